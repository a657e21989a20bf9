import { type BatchResult, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { playTurns, repeatsOf, times } from "../support/rep-scene.ts";
import {
  call,
  eventsOf,
  finish,
  outcomesOf,
  type Played,
  play,
  recordingTool,
  testSession,
  verdictsOf,
} from "../support/run-calls.ts";

const policyTextsOf = (result: BatchResult): string[] =>
  result.messages.flatMap((message) => (message.role === "policy" ? [message.content] : []));

describe("the advisory", () => {
  it("REP-4: comes at exactly 3: the call runs, and one message follows the batch's results", async () => {
    const { played, read } = await playTurns({}, [times(2), times(1), times(1)]);
    expect(read.runs).toHaveLength(4);
    expect(played.map(({ result }) => result.messages.map(({ role }) => role))).toEqual([
      ["toolResult", "toolResult"],
      ["toolResult", "policy"],
      ["toolResult"],
    ]);
    expect(played[1]?.result.messages[1]).toEqual({
      role: "policy",
      policy: "agent_policy",
      audience: "internal",
      content:
        'The tool "read" has been called 3 times in a row with equal arguments. Use the results above, or try something else.',
    });
    expect(played[1]?.result).toMatchObject({ closed: false });
  });

  it("REP-4: comes once per batch, about the first, whatever else repeats in it", async () => {
    const tools = [recordingTool().tool, recordingTool({ name: "other" }).tool];
    const { played } = await playTurns({ tools }, [[...times(3), ...times(3, "{}", "other")]]);
    expect(repeatsOf(played[0] as Played)).toEqual(["read2 advisory 3", "other2 advisory 3"]);
    expect(policyTextsOf((played[0] as Played).result)).toEqual([expect.stringContaining('"read"')]);
    expect(played[0]?.result.messages.at(-1)?.role).toBe("policy");
  });

  it("REP-4: is bounded, however long the name is", async () => {
    const name = `${"n".repeat(5_000)}\u0000\n`;
    const { played } = await playTurns({ tools: [] }, [times(3, "{}", name)]);
    const [text] = policyTextsOf((played[0] as Played).result);
    expect(text?.length).toBeLessThan(400);
    expect(text).toContain("3 times");
    expect(text).not.toMatch(/\p{Cc}/u);
  });

  it("REP-4: comes for a call that is refused as well", async () => {
    const { played } = await playTurns({ tools: [] }, [times(3, "{}", "nope")]);
    expect(policyTextsOf((played[0] as Played).result)).toHaveLength(1);
    expect(outcomesOf((played[0] as Played).result)).toEqual(["refused", "refused", "refused"]);
  });

  it("REP-4: comes at the host's own threshold", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 1 };
    expect((await playTurns({ limits }, [times(2)])).repeats).toEqual([["read0 advisory 1"]]);
  });
});

describe("the termination", () => {
  it("REP-5: comes at 8 and beyond: an error without dispatch, and the batch closes the loop", async () => {
    const { played, read } = await playTurns({}, [times(9)]);
    const result = (played[0] as Played).result;
    expect(read.runs).toHaveLength(7);
    expect(outcomesOf(result)).toEqual([...Array(7).fill("succeeded"), "repeatTerminated", "repeatTerminated"]);
    expect(result.settled[7]).toEqual({
      call: call("read", '{"p":"a"}', "read7"),
      index: 7,
      operationId: expect.any(String),
      conflictKeys: [],
      outcome: "repeatTerminated",
      endedAtMs: expect.any(Number),
      result: {
        content: [
          {
            type: "text",
            text: 'not_executed: "read" was called 8 times in a row with equal arguments. Nothing was executed.',
          },
        ],
        isError: true,
        failureCategory: "conflict",
        outcomeUncertain: false,
        terminate: true,
      },
    });
    expect(repeatsOf(played[0] as Played)).toEqual(["read2 advisory 3", "read7 terminated 8", "read8 terminated 9"]);
    expect([result.closed, result.closedBy]).toEqual([true, "exactToolRepeat"]);
  });

  it("REP-5: lets the other prepared calls of the batch run, writes included", async () => {
    const write = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const { read } = await playTurns({}, [times(7)]);
    expect(read.runs).toHaveLength(7);
    const reads = recordingTool();
    const { played } = await playTurns({ tools: [reads.tool, write.tool] }, [
      times(7),
      [call("read", '{"p":"a"}', "x"), call("write", "{}", "y"), call("read", '{"p":"b"}', "z")],
    ]);
    expect(outcomesOf((played[1] as Played).result)).toEqual(["repeatTerminated", "succeeded", "succeeded"]);
    expect(eventsOf(played[1]?.events ?? [], "epochStarted").map(({ callIds }) => callIds)).toEqual([["y"], ["z"]]);
    expect(played[1]?.result).toMatchObject({ closed: true, closedBy: "exactToolRepeat" });
    expect(write.runs).toHaveLength(1);
  });

  it("REP-5: goes on in later batches until something else is called", async () => {
    const { played } = await playTurns({}, [times(8), times(1), times(1, "{}"), times(1)]);
    expect(played.map(({ result }) => [outcomesOf(result).at(-1), result.closed])).toEqual([
      ["repeatTerminated", true],
      ["repeatTerminated", true],
      ["succeeded", false],
      ["succeeded", false],
    ]);
  });

  it("REP-5: names itself before a batch whose results all ask for the end", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 2 };
    const ending = { ...recordingTool().tool, execute: () => toolResult({ terminate: true }) };
    const { result } = await play({ tools: [ending], limits }, times(2));
    expect(result.settled.every(({ result: { terminate } }) => terminate)).toBe(true);
    expect(result.closedBy).toBe("exactToolRepeat");
  });

  it("REP-5: of a call that asks comes after the answer, and its approval does not save it", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 1 };
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool], limits, hooks: { authorizeToolCall: () => ({ ask: {} }) } });
    const asked = await session.execute(times(1)).result;
    const approvals = { [String(asked.approvals?.[0]?.approvalId)]: true as const };
    const { result } = await finish(session.execute(times(1), { approvals, turn: 1 }));
    expect(verdictsOf(result)).toEqual(["repeatTerminated:conflict"]);
    expect(runs).toEqual([]);
  });
});

describe("the thresholds", () => {
  it.each([
    [0, 2, ["read1 terminated 2", "read2 terminated 3"]],
    [2, 0, ["read1 advisory 2"]],
    [0, 0, []],
    [2, 3, ["read1 advisory 2", "read2 terminated 3"]],
    [10_000, 0, []],
    [0, 10_000, []],
    [9_999, 10_000, []],
  ])("REP-6: advisory %i and termination %i", async (advisory, termination, expected) => {
    const limits = { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination };
    const { repeats } = await playTurns({ limits }, [times(3)]);
    expect(repeats).toEqual([expected]);
  });

  it("REP-6: both 0 observe nothing, however often a call comes", async () => {
    const limits = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 0 };
    const { played, read } = await playTurns({ limits }, [times(32), times(32)]);
    expect(read.runs).toHaveLength(64);
    expect(played.flatMap(({ result }) => result.messages.map(({ role }) => role))).toEqual(
      Array(64).fill("toolResult"),
    );
  });

  it.each([
    [3, 3],
    [8, 3],
    [9_999, 1],
    [8, undefined],
    [undefined, 3],
  ])("REP-6: advisory %s needs a larger termination than %s", (advisory, termination) => {
    const limits = { exactToolRepeatAdvisoryThreshold: advisory, exactToolRepeatTerminationThreshold: termination };
    expect(() => testSession({ tools: [], limits })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "limits.exactToolRepeatTerminationThreshold" }),
    );
  });

  it.each([-1, 10_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"])("REP-6: %s is out of range", (threshold) => {
    for (const name of ["exactToolRepeatAdvisoryThreshold", "exactToolRepeatTerminationThreshold"]) {
      const limits = {
        exactToolRepeatAdvisoryThreshold: 0,
        exactToolRepeatTerminationThreshold: 0,
        [name]: threshold as number,
      };
      expect(() => testSession({ tools: [], limits })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTIONS", subject: `limits.${name}` }),
      );
    }
  });
});

describe("new evidence", () => {
  it("REP-7: resets the sequence, the advisory does not", async () => {
    const { tool } = recordingTool();
    const session = testSession({ tools: [tool] });
    const detected = [repeatsOf(await finish(session.execute(times(2))))];
    session.noteNewEvidence();
    detected.push(repeatsOf(await finish(session.execute(times(2)))));
    detected.push(repeatsOf(await finish(session.execute(times(6)))));
    expect(detected).toEqual([[], [], ["read0 advisory 3", "read5 terminated 8"]]);
  });
});
