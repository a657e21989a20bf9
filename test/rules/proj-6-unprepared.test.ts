import { GameActionDispatcher, GameActionReceipt, GameActionTool, memoryJournal, type ToolSession } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, testSession } from "../support/run-calls.ts";

const SECRET = "user 4711 was banned";

/** A tool whose receipts are projected, and whose host shows nothing else of it. */
function projectingTool() {
  return GameActionTool.create({
    input: { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } },
    name: "act",
    description: "Acts.",
    inputSchema: { type: "object" },
    dispatcher: new GameActionDispatcher({
      journal: memoryJournal(),
      handler: { execute: (intent) => GameActionReceipt.committed(intent, {}) },
    }),
    executionMode: "parallel",
    modelReceiptProjector: ({ receipt }) => ({ status: receipt.status }),
  });
}

const THREE = ["1", "2", "3"].map((id) => call("act", JSON.stringify({ id }), id));

async function contentsOf(batch: ReturnType<ToolSession["execute"]>) {
  const { settled } = await batch.result;
  return settled.map(({ result }) => result.content);
}

const status = (code: string) => [{ type: "json", value: { status: code } }];

describe("PROJ-6: a call of a tool that projects, of which nothing was prepared", () => {
  it("shows a fixed status where its response is cancelled while another is looked at, and not the host's reason", async () => {
    const user = new AbortController();
    let asked = 0;
    const authorizeToolCall = () => {
      asked += 1;
      if (asked === 2) user.abort(SECRET);
      return undefined;
    };
    const session = testSession({ tools: [projectingTool()], hooks: { authorizeToolCall } });
    const batch = session.execute(THREE, { signal: user.signal });
    expect(await contentsOf(batch)).toEqual([status("cancelled"), status("cancelled"), status("cancelled")]);
    expect((await batch.result).settled.map(({ result }) => JSON.stringify(result.details))).toEqual([
      expect.stringContaining(SECRET),
      expect.stringContaining(SECRET),
      expect.stringContaining(SECRET),
    ]);
  });

  it.each([
    ["is cut off", THREE.slice(0, 1), "length"],
    ["has failed", THREE.slice(0, 1), "error"],
    ["has one id twice", [...THREE.slice(0, 1), ...THREE.slice(0, 1)], "toolUse"],
  ] as const)("shows a fixed status where its response %s", async (_why, calls, stopReason) => {
    const session = testSession({ tools: [projectingTool()] });
    const contents = await contentsOf(session.execute(calls, { stopReason }));
    expect(contents).toEqual(calls.map(() => [{ type: "json", value: { status: expect.any(String) } }]));
  });

  it("leaves what is said of a tool that nobody has as it is", async () => {
    const session = testSession({ tools: [projectingTool()] });
    const [content] = await contentsOf(session.execute([call("unheard", "{}", "u")]));
    expect(content).toEqual([{ type: "text", text: expect.stringContaining("unknown_tool") }]);
  });
});
