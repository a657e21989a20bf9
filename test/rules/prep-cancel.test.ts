import {
  defineTool,
  type GivenCall,
  type JsonObject,
  type SessionHooks,
  type StandardSchema,
  type TraceRecord,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, finish, recordingTool, storyOf, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

const CALLS: readonly GivenCall[] = ["a", "b", "c"].map((id, index) => call("t", `{"n":${index}}`, id));
const CANCELLED = "not_executed: cancelled before dispatch. Nothing happened.";

type Step = "prepareArguments" | "rewriteToolCall" | "standard" | "validate" | "conflictKey" | "authorizeToolCall";
const STEPS: readonly Step[] = [
  ...(["prepareArguments", "rewriteToolCall", "standard", "validate", "conflictKey", "authorizeToolCall"] as const),
];

/** A session whose every step of preparation tells of itself first: `step n`. */
function steppingSession(onStep: (step: Step, callNumber: number) => unknown) {
  const simulated = trackedClock();
  const steps: string[] = [];
  const runs: unknown[] = [];
  const meet = (step: Step, given: unknown): unknown => {
    const callNumber = Number((given as JsonObject).n);
    steps.push(`${step} ${callNumber}`);
    return onStep(step, callNumber);
  };
  const schema: StandardSchema<JsonObject, JsonObject> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        const pending = meet("standard", value);
        const answer = { value: value as JsonObject };
        return pending instanceof Promise ? pending.then(() => answer) : answer;
      },
    },
  };
  const tool = defineTool({
    name: "t",
    description: "Is prepared step by step.",
    inputSchema: schema,
    inputJsonSchema: { type: "object" },
    prepareArguments: (draft) => void meet("prepareArguments", draft),
    validate: (given) => void meet("validate", given),
    conflictKey: (given) => void meet("conflictKey", given),
    execute: (given) => void runs.push(given),
  });
  const hooks: SessionHooks = {
    rewriteToolCall: ({ arguments: given }) => meet("rewriteToolCall", given) as undefined,
    authorizeToolCall: ({ arguments: given }) => meet("authorizeToolCall", given) as undefined,
  };
  const traced: string[] = [];
  const telemetry = { record: ({ name, attributes }: TraceRecord) => void traced.push(`${name} ${attributes.callId}`) };
  const session = testSession({ tools: [tool], hooks, clock: simulated.clock, telemetry });
  return { simulated, steps, runs, traced, session };
}

describe("a cancellation during preparation", () => {
  it.each(STEPS.flatMap((step) => [0, 1, 2].map((number) => [step, number] as const)))(
    "PREP-12: in step %s of call %i settles every call as cancelled before dispatch, and runs nothing",
    async (step, number) => {
      const signal = trackedSignal();
      const { session, simulated, steps, runs, traced } = steppingSession((at, callNumber) => {
        if (at === step && callNumber === number) signal.abort();
        return undefined;
      });
      const { result, events } = await finish(session.execute(CALLS, { signal: signal.signal }));
      expect(verdictsOf(result)).toEqual(Array(3).fill("cancelled:cancelled"));
      expect(textsOf(result)).toEqual(Array(3).fill(CANCELLED));
      expect(result.messages.map((message) => "callId" in message && message.callId)).toEqual(["a", "b", "c"]);
      expect(result.settled.every(({ result: each }) => each.isError && !each.outcomeUncertain)).toBe(true);
      expect(runs).toEqual([]);
      // No hook is asked about a call that nobody wants any more, and no later call is begun.
      const hooksAfter = steps
        .slice(steps.indexOf(`${step} ${number}`) + 1)
        .filter((line) => line.includes("ToolCall"));
      expect(hooksAfter).toEqual([]);
      expect(steps.some((line) => line.endsWith(` ${number + 1}`))).toBe(false);
      expect(storyOf(events).slice(-3)).toEqual(["toolEnded a", "toolEnded b", "toolEnded c"]);
      // Nor is anything told of a call that has its result.
      await simulated.advance(10);
      expect(traced.slice(-3)).toEqual(["a", "b", "c"].map((id) => `kernel.toolended ${id}`));
    },
  );

  it.each(["rewriteToolCall", "standard", "authorizeToolCall"] as const)(
    "PREP-12: does not wait for %s, tells it, and drops what it answers later",
    async (step) => {
      const signal = trackedSignal();
      let answer: (value?: unknown) => void = () => undefined;
      const { session, simulated, steps, runs } = steppingSession((at, callNumber) => {
        if (at !== step || callNumber !== 1) return undefined;
        return new Promise((resolve) => {
          answer = resolve;
        });
      });
      const played = finish(session.execute(CALLS, { signal: signal.signal }));
      await simulated.advance(10);
      signal.abort();
      const { result } = await played;
      const stepsThen = [...steps];
      answer(undefined);
      await simulated.advance(100_000);
      expect(verdictsOf(result)).toEqual(Array(3).fill("cancelled:cancelled"));
      expect(runs).toEqual([]);
      expect(steps.filter((line) => line.includes("ToolCall"))).toEqual(
        stepsThen.filter((line) => line.includes("ToolCall")),
      );
      expect(steps.some((line) => line.endsWith(" 2"))).toBe(false);
    },
  );

  it("PREP-12: fires the signal of the hook that is at work, with the host's reason", async () => {
    const { tool } = recordingTool();
    const signal = trackedSignal();
    const signals: AbortSignal[] = [];
    const hooks: SessionHooks = {
      authorizeToolCall: (input) => {
        signals.push(input.signal);
        return new Promise(() => undefined);
      },
    };
    const simulated = trackedClock();
    const session = testSession({ tools: [tool], hooks, clock: simulated.clock });
    const batch = session.execute([call("read")], { signal: signal.signal });
    await simulated.advance(0);
    signal.abort("the user left");
    expect([signals[0]?.aborted, signals[0]?.reason]).toEqual([true, "the user left"]);
    expect(textsOf(await batch.result)).toEqual([`${CANCELLED} Reason: the user left`]);
  });

  it("PREP-12: before anything has begun prepares nothing", async () => {
    const signal = trackedSignal();
    signal.abort();
    const { session, steps, runs } = steppingSession(() => undefined);
    const { result, events } = await finish(session.execute(CALLS, { signal: signal.signal }));
    expect(verdictsOf(result)).toEqual(Array(3).fill("cancelled:cancelled"));
    expect([steps, runs]).toEqual([[], []]);
    expect(storyOf(events)).toEqual(["toolEnded a", "toolEnded b", "toolEnded c"]);
  });

  it("PREP-12: in the same turn of the event loop as execute prepares nothing", async () => {
    const signal = trackedSignal();
    const { session, steps } = steppingSession(() => undefined);
    const batch = session.execute(CALLS, { signal: signal.signal });
    signal.abort();
    expect(verdictsOf(await batch.result)).toEqual(Array(3).fill("cancelled:cancelled"));
    expect(steps).toEqual([]);
  });

  it("PREP-12: leaves a call that was refused before with its refusal", async () => {
    const signal = trackedSignal();
    const { tool } = recordingTool();
    const hooks: SessionHooks = {
      authorizeToolCall: () => {
        signal.abort();
        return undefined;
      },
    };
    const session = testSession({ tools: [tool], hooks });
    const { result } = await finish(
      session.execute([call("nope", "{}", "a"), call("read", "{}", "b")], { signal: signal.signal }),
    );
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "cancelled:cancelled"]);
  });

  it("PREP-12: by the end of the session is one too", async () => {
    const { tool, runs } = recordingTool();
    const simulated = trackedClock();
    const hooks: SessionHooks = { authorizeToolCall: () => new Promise(() => undefined) };
    const session = testSession({ tools: [tool], hooks, clock: simulated.clock });
    const batch = session.execute([call("read")]);
    await simulated.advance(0);
    await session.close();
    expect(textsOf(await batch.result)).toEqual([`${CANCELLED} Reason: the session was closed`]);
    expect(runs).toEqual([]);
  });

  it("PREP-12: leaves the session ready for the next response", async () => {
    const signal = trackedSignal();
    const { tool, runs } = recordingTool();
    const session = testSession({ tools: [tool], hooks: { authorizeToolCall: () => signal.abort() as undefined } });
    await session.execute([call("read")], { signal: signal.signal }).result;
    const { result } = await finish(session.execute([call("read", '{"n":1}')]));
    expect(verdictsOf(result)).toEqual(["succeeded"]);
    expect(runs).toEqual([{ n: 1 }]);
  });
});
