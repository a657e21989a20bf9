import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../src/domain/tool.ts";

function contextOf(callIndex: number, progress: (update: unknown) => void = () => undefined): ToolContext {
  return {
    runId: "run",
    turn: 1,
    callId: `call-${callIndex}`,
    callIndex,
    conflictKeys: [],
    operationId: `operation-${callIndex}`,
    signal: new AbortController().signal,
    host: undefined,
    progress,
  };
}

describe("controllableTool", () => {
  it("is a tool with what the options say and defaults for the rest", () => {
    const { pending, execute, ...tool } = controllableTool({ name: "edit", risk: "readOnly", timeoutMs: 5 });
    expect(tool).toEqual({
      name: "edit",
      description: "Does what the test says, as edit.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      timeoutMs: 5,
    });
    expect(pending).toEqual([]);
    expect(execute).toBeTypeOf("function");
  });

  it("lists running calls in order of dispatch and ends each when told", async () => {
    const tool = controllableTool({ name: "read" });
    const first = tool.execute({ path: "a" }, contextOf(0));
    const second = tool.execute({ path: "b" }, contextOf(1));
    expect(tool.pending.map((call) => [call.callIndex, call.arguments])).toEqual([
      [0, { path: "a" }],
      [1, { path: "b" }],
    ]);
    tool.pending[1]?.resolve("second");
    await expect(second).resolves.toBe("second");
    expect(tool.pending.map((call) => call.callIndex)).toEqual([0]);
    tool.pending[0]?.reject(new Error("no such file"));
    await expect(first).rejects.toThrow("no such file");
    expect(tool.pending).toEqual([]);
  });

  it("can be ended after the test took the call out of the list", async () => {
    const tool = controllableTool({ name: "read" });
    const first = tool.execute({}, contextOf(0));
    const second = tool.execute({}, contextOf(1));
    tool.pending.shift()?.resolve("taken");
    await expect(first).resolves.toBe("taken");
    expect(tool.pending.map((call) => call.callIndex)).toEqual([1]);
    tool.pending.shift()?.resolve();
    await expect(second).resolves.toBeUndefined();
  });

  it("hands on progress and the signal of the call", () => {
    const updates: unknown[] = [];
    const context = contextOf(0, (update) => updates.push(update));
    const tool = controllableTool({ name: "read" });
    void tool.execute({}, context);
    tool.pending[0]?.progress({ percent: 50 });
    expect(updates).toEqual([{ percent: 50 }]);
    expect(tool.pending[0]?.signal).toBe(context.signal);
  });
});
