import { defineTool } from "toolkernel";
import { generateBatchPaths } from "toolkernel/testing";

const sent = new Set<string>();
const send = defineTool({
  name: "send",
  description: "Sends a letter.",
  inputSchema: { type: "object" },
  execute: (_args, { callId }) => {
    sent.add(callId);
    return "sent";
  },
});
const calls = ["a", "b"].map((id) => ({ id, name: "send", arguments: { to: id } }));

let count = 0;
for (const path of generateBatchPaths({ tools: [send], calls })) {
  const { settled } = await path.run({ setup: () => sent.clear() });
  for (const { call, outcome } of settled) {
    const isKnown = outcome !== "uncertain";
    if (isKnown && sent.has(call.id) !== (outcome === "succeeded")) {
      throw new Error(`${path.name}: ${call.id} is ${outcome}`);
    }
  }
  count += 1;
}
console.log(`On ${count} paths every letter was sent as its result says.`);
