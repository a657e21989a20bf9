import fc from "fast-check";
import type { Approval, KernelEvent, ModelRequest, ResumeOptions, RunResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { type AgentBench, type Followed, openAgentBench, say, toldMessages } from "../support/agent-bench.ts";
import { type RunPlan, runPlans } from "../support/random-plans.ts";
import { RandomWorld } from "../support/random-run.ts";
import { eventsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const RUNS = 1_500;
const MOST_ROUNDS = 40;

/** What a random run came to. */
interface Played {
  readonly world: RandomWorld;
  readonly requests: readonly ModelRequest[];
  /** Each time the run was open in this process: its events and its result. */
  readonly segments: readonly { readonly events: readonly KernelEvent[]; readonly result: RunResult }[];
  readonly final: RunResult;
  /** How many timers waited on the clock when all was over. */
  readonly timersLeft: number;
}

async function playRun(plan: RunPlan): Promise<Played> {
  const world = new RandomWorld(plan);
  const requests: ModelRequest[] = [];
  const model = world.model(async (request) => {
    requests.push({ ...request, messages: [...request.messages] });
    return say();
  });
  const { interpreter, toolExecution, limits } = plan;
  const bench = openAgentBench({
    model,
    tools: world.tools(),
    hooks: world.hooks(),
    limits,
    interpreter,
    toolExecution,
  });
  const segments: { events: readonly KernelEvent[]; result: RunResult }[] = [];
  let result = await playSegment(world, bench, bench.start("go"));
  segments.push(result);
  for (let round = 0; result.result.approvals !== undefined; round++) {
    const answered = answerBy(plan.answers[round] ?? "blockOthers", result.result.approvals);
    if (answered.message !== undefined) world.accepted.push("message");
    result = await playSegment(world, bench, bench.resume("run", answered));
    segments.push(result);
  }
  return { world, requests, segments, final: result.result, timersLeft: bench.pendingTimers() };
}

/** Moves time and the world until the run has ended; that it does is what is tested first. */
async function playSegment(world: RandomWorld, bench: AgentBench, followed: Followed) {
  world.run = followed.run;
  followed.run.subscribe((event) => world.hear(event));
  let ended: RunResult | undefined;
  void followed.run.result.then((result) => {
    ended = result;
  });
  for (let round = 0; ended === undefined && round < MOST_ROUNDS; round++) {
    await bench.advance(20);
    world.goOn();
    await bench.advance();
  }
  if (ended === undefined) throw new Error("the run does not end");
  return { events: followed.events, result: ended };
}

function answerBy(how: string, approvals: readonly Approval[]): ResumeOptions & { message?: string } {
  const all = (decision: true | { block: string }) =>
    Object.fromEntries(approvals.map(({ approvalId }) => [approvalId, decision]));
  switch (how) {
    case "grant":
      return { approvals: all(true) };
    case "block":
      return { approvals: all({ block: "no" }) };
    case "grantFirst":
      return { approvals: Object.fromEntries(Object.entries(all(true)).slice(0, 1)) };
    case "nothing":
      return {};
    case "message":
      return { message: "message" };
    case "abort":
      return { signal: AbortSignal.abort("enough") };
    default:
      return { blockOthers: true };
  }
}

const ENDS = new Set([
  ...["completed by noCalls", "completed by allTerminate", "stopped by shouldStop", "stopped by exactToolRepeat"],
  ...["limitExceeded by maxTurns", "limitExceeded by maxToolCalls", "aborted by abort", "kernelError by undefined"],
  ...["providerError by modelError", "providerError by modelTimeout", "providerError by invalidResponse"],
]);

/** Everything that must hold of every run, whatever happened in it. */
function checkRun({ world, requests, segments, final, timersLeft }: Played): void {
  const events = segments.flatMap((segment) => segment.events);
  expect(ENDS).toContain(`${final.status} by ${final.endedBy}`);
  expect(timersLeft).toBe(0);
  checkEvents(segments);
  for (const { messages } of [...segments.map(({ result }) => result), ...requests])
    expect(findTranscriptFaults(messages)).toEqual([]);
  expect(toldMessages(events)).toEqual(final.newMessages);
  checkSaid(world, final);
  if (final.status === "limitExceeded" || final.status === "completed") checkReached(requests, final);
  checkCalls(world, events, final);
  if (final.status === "aborted" && world.abortedAtSeq !== undefined) {
    const after = events.filter(({ seq }) => seq > (world.abortedAtSeq ?? 0)).map(({ kind }) => kind);
    expect(after).not.toContain("toolDispatched");
    expect(after).not.toContain("modelRequestStarted");
  }
}

function checkEvents(segments: Played["segments"]): void {
  const events = segments.flatMap((segment) => segment.events);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, place) => place));
  for (const [place, { events: own, result }] of segments.entries()) {
    expect(own[0]?.kind).toBe(place === 0 ? "runStarted" : "runResumed");
    expect(eventsOf(own, "runEnded").map(({ status }) => status)).toEqual([result.status]);
    expect(own.at(-1)?.kind).toBe("runEnded");
    expect(result.status === "awaitingApproval").toBe(place < segments.length - 1);
  }
  expect(events.filter(({ kind }) => kind === "runStarted")).toHaveLength(1);
}

/** RUN-3: what was accepted is in the transcript or comes back, once; nothing else is. */
function checkSaid(world: RandomWorld, final: RunResult): void {
  const said = [...final.newMessages, ...final.undelivered].flatMap((message) =>
    message.role === "user" && message.content !== "go" ? [message.content] : [],
  );
  expect([...said].sort()).toEqual([...world.accepted].sort());
  for (const how of ["steer", "followUp"]) {
    const ofQueue = (texts: readonly unknown[]) => texts.filter((text) => String(text).startsWith(how));
    expect(ofQueue(said)).toEqual(ofQueue(world.accepted));
  }
}

/** RUN-1, RUN-3: what is in the transcript was asked about; what no request followed came back. */
function checkReached(requests: readonly ModelRequest[], final: RunResult): void {
  const asked = new Set(requests.flatMap(({ messages }) => messages));
  const users = final.newMessages.filter(({ role }) => role === "user");
  // A run whose limits let no request through keeps its prompt.
  expect(users.filter((message) => message.content !== "go" && !asked.has(message))).toEqual([]);
}

/** CAN-4: every call of the transcript ended once, was dispatched at most once, and its result is what was told. */
function checkCalls(world: RandomWorld, events: readonly KernelEvent[], final: RunResult): void {
  const results = final.newMessages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  const ended = eventsOf(events, "toolEnded");
  expect(ended.map(({ callId }) => callId).sort()).toEqual(results.map(({ callId }) => callId).sort());
  for (const { callId, result } of ended)
    expect(results.find((message) => message.callId === callId)?.content).toEqual(result.content);
  const dispatched = eventsOf(events, "toolDispatched").map(({ callId }) => callId);
  expect(new Set(dispatched).size).toBe(dispatched.length);
  expect([...world.called].sort()).toEqual([...dispatched].sort());
}

describe("any run", () => {
  it("RUN-1, RUN-3, RUN-4, RUN-5, CAN-1, CAN-4: keeps the rules of the loop", { timeout: 180_000 }, async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(runPlans, async (plan) => {
        const played = await playRun(plan);
        checkRun(played);
        seen.add(played.final.status);
        if (played.segments.length > 1) seen.add("awaitingApproval");
      }),
      // A failure prints its seed and path.
      { numRuns: RUNS },
    );
    expect([...seen].sort()).toEqual([
      ...["aborted", "awaitingApproval", "completed", "kernelError", "limitExceeded", "providerError", "stopped"],
    ]);
  });
});
