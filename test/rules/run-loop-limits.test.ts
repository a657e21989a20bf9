import { DEFAULT_LIMITS, type ModelResponse } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf, outcomesOf, recordingTool, verdictsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** A response that calls `read` so often, each time with other arguments. */
function reads(turn: number, count = 1): ModelResponse {
  return ask(
    ...Array.from({ length: count }, (_none, index) => callPart("read", `t${turn}c${index}`, { turn, index })),
  );
}

/** A model that calls `read` for ever. */
const forEver = (count = 1) => Array.from({ length: 50 }, (_none, turn) => reads(turn, count));

const tokens = (totalTokens: number) => ({ inputTokens: 0, outputTokens: totalTokens, totalTokens });

describe("limits", () => {
  it("RUN-1: have the defaults of the contract", () => {
    expect(DEFAULT_LIMITS).toEqual({
      maxTurns: 32,
      maxToolCallsPerTurn: 32,
      maxToolCalls: 1_024,
      maxConcurrentTools: 8,
      maxTotalTokens: 1_000_000,
      maxMessages: 1_024,
      maxArgumentCharacters: 1_000_000,
      maxResultCharacters: 1_000_000,
      maxProgressEventsPerTool: 256,
      maxQueuedMessages: 64,
      toolTimeoutMs: 120_000,
      modelTimeoutMs: 120_000,
      hookTimeoutMs: 30_000,
      cancellationGraceMs: 1_000,
      abandonAfterMs: 30_000,
      exactToolRepeatAdvisoryThreshold: 3,
      exactToolRepeatTerminationThreshold: 8,
    });
  });

  it("RUN-1: a run has 32 turns unless told otherwise, and ends before the request that would pass them", async () => {
    const { play, requests } = openAgentBench({ script: forEver() });
    const played = await play();
    expect([endOf(played), requests.length, played.result.turns]).toEqual(["limitExceeded by maxTurns", 32, 32]);
    expect(played.result).not.toHaveProperty("error");
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  });

  it("RUN-1: the last turn that maxTurns allows may end the run by itself", async () => {
    const played = await openAgentBench({ script: [ask("read"), say()], limits: { maxTurns: 2 } }).play();
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it("RUN-1: a response over maxToolCallsPerTurn is refused whole and the loop goes on; one at it runs", async () => {
    const { tool, runs } = recordingTool();
    const script = [reads(1, 3), reads(2, 2), say()];
    const played = await openAgentBench({ tools: [tool], script, limits: { maxToolCallsPerTurn: 2 } }).play();
    const batches = eventsOf(played.events, "toolEnded").map(({ callId, outcome }) => `${callId} ${outcome}`);
    expect(batches).toEqual([
      ...["t1c0 refused", "t1c1 refused", "t1c2 refused"],
      ...["t2c0 succeeded", "t2c1 succeeded"],
    ]);
    expect([endOf(played), runs.length, played.result.toolCalls]).toEqual(["completed by noCalls", 2, 2]);
  });

  it("RUN-1: a response that reaches maxToolCalls runs; one that would pass it is answered, and ends the run", async () => {
    const { tool, runs } = recordingTool();
    const { play, requests } = openAgentBench({
      tools: [tool],
      script: [reads(1, 2), reads(2, 1), reads(3, 1), say()],
      limits: { maxToolCalls: 3 },
    });
    const played = await play();
    expect([endOf(played), runs.length, requests.length]).toEqual(["limitExceeded by maxToolCalls", 3, 3]);
    expect(linesOf(played.result.messages).slice(-2)).toEqual([
      "assistant read#t3c0",
      "error t3c0 not_executed: too_many_calls",
    ]);
    expect(played.result.toolCalls).toBe(3);
  });

  it("RUN-1: of a response that would pass maxToolCalls nothing runs, though a part of it would fit", async () => {
    const { tool, runs } = recordingTool();
    const played = await openAgentBench({ tools: [tool], script: [reads(1, 3)], limits: { maxToolCalls: 2 } }).play();
    expect([endOf(played), runs.length]).toEqual(["limitExceeded by maxToolCalls", 0]);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    expect(played.result.messages).toHaveLength(5);
  });

  it.each([
    [99, "completed by noCalls", 2],
    [100, "limitExceeded by maxTotalTokens", 1],
    [101, "limitExceeded by maxTotalTokens", 1],
  ])("RUN-1: %i tokens used of maxTotalTokens 100: %s", async (used, end, sent) => {
    const script = [{ ...ask("read"), usage: tokens(used) }, say()];
    const { play, requests } = openAgentBench({ script, limits: { maxTotalTokens: 100 } });
    const played = await play();
    expect([endOf(played), requests.length]).toEqual([end, sent]);
    expect(linesOf(played.result.messages).slice(0, 3)).toEqual(["user go", "assistant read#read", "result read ok"]);
  });

  it("RUN-1: tokens are counted over all turns of the run, and of the run alone", async () => {
    const script = [1, 2, 3].map((turn) => ({ ...reads(turn), usage: tokens(40) }));
    const { play, requests } = openAgentBench({ script, limits: { maxTotalTokens: 100 } });
    const first = await play();
    expect([endOf(first), requests.length]).toEqual(["limitExceeded by maxTotalTokens", 3]);
    const next = openAgentBench({ script: [say("done", tokens(40))], limits: { maxTotalTokens: 100 } });
    expect(endOf(await next.play([...first.result.messages, { role: "user", content: "on" }]))).toBe(
      "completed by noCalls",
    );
  });

  it("RUN-1: an answer without calls completes the run, whatever it cost", async () => {
    const played = await openAgentBench({ script: [say("done", tokens(500))], limits: { maxTotalTokens: 100 } }).play();
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it.each([
    [7, "completed by noCalls", 2],
    [6, "limitExceeded by maxMessages", 1],
  ])("RUN-1: with maxMessages %i, two calls a turn and three messages so far: %s", async (maxMessages, end, sent) => {
    const limits = { maxMessages, maxToolCallsPerTurn: 2 };
    const { play, requests } = openAgentBench({ script: [reads(1), say()], limits });
    const played = await play();
    expect([endOf(played), requests.length]).toEqual([end, sent]);
  });

  it("RUN-1: maxMessages that no request fits into ends the run before the first", async () => {
    const { play, requests } = openAgentBench({ script: [say()], limits: { maxMessages: 34 } });
    const played = await play();
    expect([endOf(played), requests.length, played.result.turns]).toEqual(["limitExceeded by maxMessages", 0, 0]);
    expect(loopStory(played.events)).toEqual(["runStarted", "messageEnded user", "runEnded"]);
    const fits = openAgentBench({ script: [say()], limits: { maxMessages: 35 } });
    expect(endOf(await fits.play())).toBe("completed by noCalls");
  });

  it("RUN-1: the results of a response are recorded even beyond maxMessages", async () => {
    const limits = { maxMessages: 5, maxToolCallsPerTurn: 2 };
    const played = await openAgentBench({ script: [reads(1, 5)], limits }).play();
    expect(endOf(played)).toBe("limitExceeded by maxMessages");
    expect(played.result.messages).toHaveLength(7);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  });

  it("RUN-1: a run that is at a limit gives back what was queued for its next request, and shows it nowhere else", async () => {
    const limits = { maxTurns: 1 };
    const bench = openAgentBench({ script: [ask("read")], limits });
    const { run, finish } = bench.start();
    run.followUp("later");
    run.steer("now");
    const played = await finish();
    expect(endOf(played)).toBe("limitExceeded by maxTurns");
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant read#read", "result read ok"]);
    expect(linesOf(played.result.undelivered)).toEqual(["user now", "user later"]);
  });

  it("RUN-1: messages queued for the next request count for maxMessages", async () => {
    const limits = { maxMessages: 7, maxToolCallsPerTurn: 2 };
    const bench = openAgentBench({ script: [reads(1), say()], limits });
    const { run, finish } = bench.start();
    run.steer("now");
    const played = await finish();
    expect([endOf(played), linesOf(played.result.undelivered)]).toEqual(["limitExceeded by maxMessages", ["user now"]]);
  });
});

describe("the batch of a turn", () => {
  it("RUN-1: is run by the session's options: its mode, its hooks, its compat, its limits", async () => {
    const one = recordingTool({ name: "one" });
    const two = recordingTool({ name: "two" });
    const played = await openAgentBench({
      tools: [one.tool, two.tool],
      toolExecution: "sequential",
      hooks: { authorizeToolCall: ({ tool }) => (tool.name === "two" ? { block: "not two" } : true) },
      script: [ask("one", "two", callPart("one", "three")), say()],
    }).play();
    expect(eventsOf(played.events, "epochStarted").map(({ callIds }) => callIds)).toEqual([["one"], ["three"]]);
    expect(linesOf(played.result.messages).slice(2, 5)).toEqual(["result one ok", "error two not", "result three ok"]);
  });

  it("RUN-1: is what shouldStopAfterTurn is shown", async () => {
    const seen: (readonly string[])[] = [];
    await openAgentBench({
      script: [ask("read", callPart("nope", "n")), say()],
      hooks: {
        shouldStopAfterTurn: ({ batch }) => {
          if (batch !== undefined) seen.push([...outcomesOf(batch), ...verdictsOf(batch)]);
          return false;
        },
      },
    }).play();
    expect(seen).toEqual([["succeeded", "refused", "succeeded", "refused:invalidArguments"]]);
  });
});
