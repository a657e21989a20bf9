import { type AnyTool, type BatchResult, type KernelEvent, type ToolSessionOptions, toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { draftsOf, factsIn, type LeftCall, type LeftOptions, leaveRun } from "../support/left-run.ts";
import { eventsOf, finish, outcomesOf, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

interface Resumed {
  readonly result: BatchResult;
  readonly events: readonly KernelEvent[];
}

type ResumeOptions = LeftOptions & Partial<ToolSessionOptions> & { readonly signal?: AbortSignal };

/** Goes on with a response whose calls an earlier process has left, in a session of its own. */
async function goOn(
  calls: readonly LeftCall[],
  tools: readonly AnyTool[],
  options: ResumeOptions = {},
): Promise<Resumed> {
  const { epochs, signal, more, ...sessionOptions } = options;
  const runStore = await leaveRun(calls, {
    ...(epochs !== undefined && { epochs }),
    ...(more !== undefined && { more }),
  });
  const session = testSession({ ...sessionOptions, tools, runStore });
  const played = await finish(session.execute(draftsOf(calls), { turn: 1, signal }));
  await session.close();
  return played;
}

const write = (options: Partial<AnyTool> = {}) =>
  recordingTool({ name: "write", risk: "nonIdempotentWrite", executionMode: "parallel", ...options });

const LEFT: LeftCall = { name: "write", keys: ["k"], state: "dispatched" };

describe("a write that an earlier process has dispatched", () => {
  it("RUN-6, UNC-8: is uncertain, not run again and dispatched when it was", async () => {
    const { tool, runs } = write();
    const { result, events } = await goOn([LEFT], [tool]);
    expect([verdictsOf(result), runs, result.settled[0]?.startedAtMs]).toEqual([["uncertain:internal"], [], 1_000]);
    expect(textsOf(result)[0]).toContain("do not repeat");
    // Nothing was dispatched by this process.
    expect(eventsOf(events, "toolDispatched")).toEqual([]);
    expect(eventsOf(events, "toolEnded").map(({ durationMs }) => durationMs)).toEqual([undefined]);
  });

  it("RUN-6: is uncertain too when its tool is no longer there", async () => {
    const { result } = await goOn([LEFT], []);
    expect(verdictsOf(result)).toEqual(["uncertain:internal"]);
  });

  it.each(["before it is resumed", "while it waits for its key"])(
    "RUN-6, CAN-1: is uncertain, not cancelled, when the batch is cancelled %s",
    async (when) => {
      const { signal, abort } = trackedSignal();
      const { tool, runs } = write();
      const holder = controllableTool({ name: "holder", risk: "readOnly" });
      const calls: LeftCall[] = [{ name: "holder", keys: ["k"], state: "dispatched" }, LEFT];
      if (when.startsWith("before")) abort("enough");
      const going = goOn(calls, [holder, tool], { epochs: [[0, 1]], signal });
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      abort("enough");
      holder.pending[0]?.resolve("read");
      const { result } = await going;
      expect([verdictsOf(result)[1], runs]).toEqual(["uncertain:cancelled", []]);
    },
  );

  it("UNC-4: is not blocked by another that is uncertain", async () => {
    const { tool, runs } = write();
    const left: LeftCall = { name: "write", state: "dispatched" };
    const { result, events } = await goOn([left, left], [tool], { epochs: [[0, 1]] });
    expect([verdictsOf(result), runs]).toEqual([["uncertain:internal", "uncertain:internal"], []]);
    expect(eventsOf(events, "toolBlocked")).toEqual([]);
  });

  it("UNC-3, UNC-5: blocks what was not dispatched, before anything is", async () => {
    const { tool, runs } = write();
    const keyed: LeftCall = { name: "write", keys: ["other"] };
    const { result } = await goOn([{ name: "write", state: "dispatched" }, keyed], [tool], { epochs: [[0, 1]] });
    expect([verdictsOf(result), runs]).toEqual([["uncertain:internal", "blocked:conflict"], []]);
  });

  it("UNC-3: blocks even a call before it that waited for a key then", async () => {
    const { tool, runs } = write();
    const read = recordingTool();
    const calls: LeftCall[] = [
      { name: "read", keys: ["k"], state: "succeeded" },
      { name: "write", keys: ["k"] },
      { name: "write", state: "dispatched" },
    ];
    const { result } = await goOn(calls, [tool, read.tool], { epochs: [[0, 1, 2]] });
    expect([verdictsOf(result), runs, read.runs]).toEqual([
      ["succeeded", "blocked:conflict", "uncertain:internal"],
      [],
      [],
    ]);
  });

  it("UNC-2: lets writes with other keys go on", async () => {
    const { tool, runs } = write();
    const other: LeftCall = { name: "write", keys: ["other"], arguments: { n: 2 } };
    const { result } = await goOn([LEFT, other], [tool], { epochs: [[0, 1]] });
    expect([outcomesOf(result), runs]).toEqual([["uncertain", "succeeded"], [{ n: 2 }]]);
  });

  it("REP-5: is not taken for a repeat that never ran, whatever the thresholds are now", async () => {
    const { tool, runs } = write();
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };
    const { result } = await goOn([LEFT, { name: "write", keys: ["other"] }], [tool], { limits });
    expect([outcomesOf(result), runs]).toEqual([["uncertain", "succeeded"], [{}]]);
  });

  it.each([
    ["it happened", toolResult({ value: "found" }), "succeeded"],
    ["it did not happen", toolResult({ value: "not found", isError: true }), "failed:unspecified"],
    ["nothing", undefined, "uncertain:internal"],
  ])("UNC-7: is asked about once; when its tool says %s, so it is", async (_says, answer, verdict) => {
    let asked = 0;
    const recover = () => {
      asked += 1;
      return answer;
    };
    const { tool, runs } = write({ recover });
    const { result } = await goOn([LEFT], [tool]);
    expect([verdictsOf(result), asked, runs]).toEqual([[verdict], 1, []]);
  });

  it("UNC-7: is not asked about when the batch is cancelled, and stays uncertain", async () => {
    let asked = 0;
    const recover = () => {
      asked += 1;
      return toolResult({ value: "found" });
    };
    const { tool } = write({ recover });
    const { result } = await goOn([LEFT], [tool], { signal: AbortSignal.abort() });
    expect([verdictsOf(result), asked]).toEqual([["uncertain:cancelled"], 0]);
  });
});

describe("a call that may run again", () => {
  it.each(["readOnly", "idempotentWrite"] as const)(
    "RUN-6: a %s that was dispatched runs again, under the same operation id, and is not recorded as dispatched twice",
    async (risk) => {
      const ids: string[] = [];
      const tool = {
        ...recordingTool({ name: "write", risk }).tool,
        execute: (_args: never, context: { readonly operationId: string }) => {
          ids.push(context.operationId);
          return "again";
        },
      };
      const first = await goOn([{ name: "write" }], [tool]);
      const runStore = await leaveRun([LEFT]);
      const session = testSession({ tools: [tool], runStore });
      const { result, events } = await finish(session.execute(draftsOf([LEFT]), { turn: 1 }));
      await session.close();
      expect([textsOf(result), new Set(ids).size, ids[0]]).toEqual([
        ["again"],
        1,
        first.result.settled[0]?.operationId,
      ]);
      expect(eventsOf(events, "toolDispatched")).toHaveLength(1);
      expect((await factsIn(runStore)).filter(({ kind }) => kind === "dispatched")).toHaveLength(1);
    },
  );

  it.each([
    ["it happened", toolResult({ value: "found" }), ["found"], 0],
    ["nothing", undefined, ["ok"], 1],
  ])(
    "RUN-6, UNC-7: an idempotentWrite is asked about first; where that says %s…",
    async (_says, answer, texts, runsOfIt) => {
      const { tool, runs } = write({ risk: "idempotentWrite", recover: () => answer });
      const { result } = await goOn([LEFT], [tool]);
      expect([textsOf(result), runs.length]).toEqual([texts, runsOfIt]);
    },
  );

  it("RUN-6: a read that was dispatched is cancelled like any other, not uncertain", async () => {
    const { result } = await goOn([{ name: "read", state: "dispatched" }], [recordingTool().tool], {
      signal: AbortSignal.abort(),
    });
    expect(verdictsOf(result)).toEqual(["cancelled:cancelled"]);
  });

  it("OBS-4: has waited since it was taken up again, not since for ever", async () => {
    const { events } = await goOn([{ name: "read", state: "dispatched" }, { name: "read" }], [recordingTool().tool]);
    expect(eventsOf(events, "toolDispatched").map(({ waitedMs }) => waitedMs)).toEqual([0, 0]);
  });
});
