import { describe, expect, it } from "vitest";
import { actServer } from "../support/mcp-outcomes-scene.ts";
import { testContext } from "../support/tool-context.ts";

describe("progress and clean-up", () => {
  it("MCP progress becomes progress of the call", async () => {
    const { act } = await actServer(async (reply) => {
      reply.progress({ progress: 1, total: 3, message: "one" });
      reply.progress({ progress: 2 });
      // The SDK hands notifications over a microtask later, and drops what comes after the answer.
      await Promise.resolve();
      reply.result({ content: [] });
    });
    const test = testContext();
    await act.execute({}, test.context);
    expect(test.updates).toEqual([{ progress: 1, total: 3, message: "one" }, { progress: 2 }]);
  });

  it("a signal that fires after the answer tells the server nothing", async () => {
    const { act, seen } = await actServer((reply) => reply.result({ content: [] }));
    const test = testContext();
    await act.execute({}, test.context);
    const before = seen.length;
    test.controller.abort();
    expect(seen.length).toBe(before);
  });
});
