import type { KernelEvent, ModelResponse } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import { caseTools } from "../support/case-tools.ts";
import { eventsOf, textOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const readA = () => callPart("read", "", { path: "a" });
const turns = (count: number, response: () => ModelResponse) => Array.from({ length: count }, response);

/** What was noticed of repeats: `advisory 3 in turn 3`. */
function noticed(events: readonly KernelEvent[]): string[] {
  return eventsOf(events, "toolRepeatDetected").map(({ action, count, turn }) => `${action} ${count} in turn ${turn}`);
}

/** Plays responses against the fixture tools, and says how often each was run. */
async function playCase(script: readonly ModelResponse[]) {
  const { tools, done } = caseTools();
  const bench = openAgentBench({ tools, script });
  const played = await bench.play();
  expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  return { ...played, requests: bench.requests.length, done, noticed: noticed(played.events) };
}

describe("loops", () => {
  it("C61: one call for twenty turns: advice at 3, the end at 8, whose call is not run", async () => {
    const played = await playCase(turns(20, () => ask(readA())));
    expect(played.noticed).toEqual(["advisory 3 in turn 3", "terminated 8 in turn 8"]);
    expect([endOf(played), played.requests, played.done.length]).toEqual(["stopped by exactToolRepeat", 8, 7]);
    const policies = played.result.messages.filter(({ role }) => role === "policy");
    expect(policies).toEqual([
      { role: "policy", policy: "agent_policy", audience: "internal", content: expect.stringContaining('"read"') },
    ]);
    expect(JSON.stringify(policies)).not.toContain('"a"');
    expect(played.result.messages.at(-1)).toMatchObject({
      isError: true,
      failureCategory: "conflict",
      terminate: true,
    });
  });

  it("C63: another result each time hides nothing", async () => {
    const { tools, done } = caseTools((_name, count) => `at ${count}`);
    const bench = openAgentBench({ tools, script: [...turns(3, () => ask(readA())), say()] });
    const played = await bench.play();
    expect([noticed(played.events), done.length]).toEqual([["advisory 3 in turn 3"], 3]);
    const told = played.result.messages.flatMap((message) =>
      message.role === "toolResult" ? [textOf(message.content)] : [],
    );
    expect(told).toEqual(["at 1", "at 2", "at 3"]);
  });

  it("C64: the sequence goes over the turns of a run, one call a turn", async () => {
    const played = await playCase([
      ...turns(2, () => ask(readA())),
      ask(callPart("read", "", { path: "b" })),
      ...turns(2, () => ask(readA())),
      say(),
    ]);
    expect(played.noticed).toEqual([]);
    expect((await playCase([...turns(4, () => ask(readA())), say()])).noticed).toEqual(["advisory 3 in turn 3"]);
  });

  it("C66: an exempt call last in the turn hides no tracked one", async () => {
    const played = await playCase([...turns(3, () => ask(readA(), callPart("poll", "", { job: "j" }))), say()]);
    expect(played.noticed).toEqual(["advisory 3 in turn 3"]);
    const polls = await playCase([...turns(10, () => ask(callPart("poll", "", { job: "j" }))), say()]);
    expect([polls.noticed, endOf(polls)]).toEqual([[], "completed by noCalls"]);
  });

  it("C67: text that varies is another call: the match is exact", async () => {
    const tries = Array.from({ length: 9 }, (_none, index) =>
      ask(callPart("shell", "", { command: "ls", description: `try ${index}` })),
    );
    const played = await playCase([...tries, say()]);
    expect([played.noticed, endOf(played)]).toEqual([[], "completed by noCalls"]);
  });

  it.each([
    [3, ["advisory 3 in turn 1"], "completed by noCalls", 3],
    [8, ["advisory 3 in turn 1", "terminated 8 in turn 1"], "stopped by exactToolRepeat", 7],
  ])("C69: %i equal calls in one response are counted by their place", async (count, expected, end, run) => {
    const played = await playCase([ask(...Array.from({ length: count }, readA)), say()]);
    expect([played.noticed, endOf(played), played.done.length]).toEqual([expected, end, run]);
  });

  it("C18: a repeat too many leaves no orphan: its own error, its siblings' results, no further request", async () => {
    const played = await playCase([
      ...turns(6, () => ask(readA())),
      ask(readA(), readA(), callPart("read", "", { path: "b" })),
      say(),
    ]);
    expect([endOf(played), played.requests]).toEqual(["stopped by exactToolRepeat", 7]);
    expect(played.result.messages.slice(-3)).toMatchObject([
      { role: "toolResult", isError: false },
      { role: "toolResult", isError: true, failureCategory: "conflict" },
      { role: "toolResult", isError: false },
    ]);
    expect(played.done.at(-1)).toBe("read b");
  });
});

describe("progress and lateness", () => {
  it("C21: progress after the end, and into another call's time, is dropped; what came before comes first", async () => {
    const slow = controllableTool({ name: "slow", risk: "readOnly" });
    const bench = openAgentBench({ tools: [slow], script: [ask(callPart("slow", "a"), callPart("slow", "b")), say()] });
    const { events, finish } = bench.start();
    await bench.advance();
    const [a, b] = slow.pending;
    a?.progress("half");
    a?.resolve("done");
    await bench.advance();
    a?.progress("after the end");
    b?.progress("of b");
    a?.progress("in b's time");
    b?.resolve("done");
    const played = await finish();
    a?.progress("after the run");
    await bench.advance();
    const told = events.flatMap((event) => {
      if (event.kind === "toolProgressed") return [`${event.callId} says ${event.update}`];
      return event.kind === "toolEnded" ? [`${event.callId} ends`] : [];
    });
    expect(told).toEqual(["a says half", "a ends", "b says of b", "b ends"]);
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it("C15: a write that is aborted is completed if it says so in time, and uncertain if it does not", async () => {
    const write = controllableTool({ name: "write" });
    for (const [answersAfterMs, outcome] of [
      [40, "succeeded"],
      [5_000, "uncertain"],
    ] as const) {
      const bench = openAgentBench({ tools: [write], script: [ask(callPart("write", "a"))] });
      const { run, events, finish } = bench.start();
      await bench.advance(10);
      run.abort("enough");
      await bench.advance(answersAfterMs);
      write.pending[0]?.resolve({ done: true });
      await bench.advance();
      const { result } = await finish();
      expect(eventsOf(events, "toolEnded").map((event) => event.outcome)).toEqual([outcome]);
      expect(result.messages.at(-1)).toMatchObject({
        outcomeUncertain: outcome === "uncertain",
        isError: outcome === "uncertain",
      });
      expect(findTranscriptFaults(result.messages)).toEqual([]);
    }
  });
});

describe("responses that did not end well", () => {
  it("C39: no call of a response that was cut off runs, though one of them is whole; the model is told and may retry", async () => {
    const edit = (path: string) => callPart("edit", path, { path, oldText: "x", newText: "y" });
    const played = await playCase([
      { ...ask(edit("a"), callPart("edit", "b", '{"path":"b","oldText":"x')), stopReason: "length" },
      ask(edit("c")),
      say(),
    ]);
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant edit#a, edit#b"],
      ...["error a not_executed: response_truncated", "error b not_executed: response_truncated"],
      ...["assistant edit#c", "result c ok", "assistant done"],
    ]);
    expect(played.done).toEqual(["edit c"]);
    const told = played.result.messages[2];
    expect(told?.role === "toolResult" && textOf(told.content)).toContain("Send them again");
  });
});
