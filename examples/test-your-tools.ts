import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool } from "toolkernel";
import { generateBatchPaths } from "toolkernel/testing";

// What a host has already: a tool, and the world that it changes.
const sent = new Set<string>();
const send = defineTool({
  name: "send",
  description: "Sends a letter.",
  inputSchema: { type: "object" },
  execute: (_args, { callId }) => sent.add(callId).size,
});

// Every way in which two calls of it can go: what is known of a letter is what has become of it.
const calls = ["a", "b"].map((id) => ({ id, name: "send", arguments: { to: id } }));
for (const path of generateBatchPaths({ tools: [send], calls })) {
  test(path.name, async () => {
    const { settled } = await path.run({ setup: () => sent.clear() });
    for (const { call, outcome } of settled) {
      if (outcome !== "uncertain") assert.equal(sent.has(call.id), outcome === "succeeded");
    }
  });
}
