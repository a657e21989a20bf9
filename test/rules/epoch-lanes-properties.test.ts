import fc from "fast-check";
import { type Batch, createLanes } from "toolkernel";
import { describe, expect, it } from "vitest";
import { type Bench, keyedTool, openBench } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";
import { trackedClock, trackedSignal } from "../support/tracked.ts";

/** Many plays, on a machine that may be busy. */
const LONG_MS = 120_000;

const SESSIONS = 3;
const TIMEOUT_MS = 100;
const LIMITS = { maxConcurrentTools: 2, cancellationGraceMs: 50, abandonAfterMs: 400 };

const keys = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c"), { maxLength: 2 });
const drawnCall = fc.record({ isWrite: fc.boolean(), keys });
const drawnStep = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant("end" as const), place: fc.nat(20), isLost: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("cancel" as const), session: fc.nat(SESSIONS - 1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("execute" as const),
      session: fc.nat(SESSIONS - 1),
      calls: fc.array(drawnCall, { minLength: 1, maxLength: 4 }),
    }),
  },
);

interface Participant {
  readonly bench: Bench;
  readonly tools: ReturnType<typeof keyedTool>[];
  readonly batches: Batch[];
  abort: () => void;
}

/** An executor that was called and has not ended, whatever became of its call. */
interface Alive {
  readonly session: number;
  readonly isWrite: boolean;
  readonly keys: readonly string[];
  /** From when on a later write may pass it by all the same; undefined while its call runs. */
  passableAtMs: number | undefined;
}

/** Watches all sessions at once: who is alive on which key, and who starts beside whom. */
class Watch {
  readonly #now: () => number;
  readonly #alive = new Map<string, Alive>();
  /** When the signal of a call fired, by the executor's own word. */
  readonly signalledAtMs = new Map<string, number>();
  readonly faults: string[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  called(id: string, one: Omit<Alive, "passableAtMs">): void {
    for (const [otherId, other] of this.#alive) {
      const sharesKey = other.keys.some((key) => one.keys.includes(key));
      // Without a key it holds back every later write of its own session, once its call is given up.
      const isKeyless = other.keys.length === 0 && other.session === one.session && other.passableAtMs !== undefined;
      if (!sharesKey && !isKeyless) continue;
      const isRunning = other.passableAtMs === undefined;
      const isHolding = one.isWrite && other.isWrite && (other.passableAtMs ?? 0) > this.#now();
      if (isRunning || isHolding)
        this.faults.push(`${id} started beside ${otherId}, which ${isRunning ? "ran" : "held"}`);
    }
    this.#alive.set(id, { ...one, passableAtMs: undefined });
  }

  ended(id: string): void {
    this.#alive.delete(id);
  }

  settled(id: string): void {
    const one = this.#alive.get(id);
    if (one !== undefined) one.passableAtMs = (this.signalledAtMs.get(id) ?? 0) + LIMITS.abandonAfterMs;
  }
}

function openParticipants(watch: Watch, simulated: ReturnType<typeof trackedClock>): Participant[] {
  const lanes = createLanes();
  return Array.from({ length: SESSIONS }, (_, place) => {
    const tools = [true, false].map((isWrite) => watchedTool(watch, { isWrite, place, now: simulated.clock.now }));
    const bench = openBench({
      simulated,
      tools,
      lanes,
      limits: LIMITS,
      runId: `s${place}`,
      jsonSchemaValidator: { compile: () => () => [] },
    });
    return { bench, tools, batches: [], abort: () => undefined };
  });
}

function watchedTool(
  watch: Watch,
  { isWrite, place, now }: { readonly isWrite: boolean; readonly place: number; readonly now: () => number },
): ReturnType<typeof keyedTool> {
  const tool = keyedTool({
    name: isWrite ? "write" : "read",
    timeoutMs: TIMEOUT_MS,
    trackExactRepeats: false,
    ...(isWrite ? { executionMode: "parallel" } : { risk: "readOnly" }),
  });
  return {
    ...tool,
    execute: (args, context) => {
      const id = `${place}:${context.turn}:${context.callIndex}`;
      watch.called(id, { session: place, isWrite, keys: context.conflictKeys });
      context.signal.addEventListener("abort", () => watch.signalledAtMs.set(id, now()));
      const end = (): void => watch.ended(id);
      const answer = tool.execute(args, context) as Promise<unknown>;
      answer.then(end, end);
      return answer;
    },
  };
}

function begin(
  participant: Participant,
  place: number,
  given: { watch: Watch; calls: readonly { isWrite: boolean; keys: string[] }[] },
): void {
  const { signal, abort } = trackedSignal();
  const calls = given.calls.map(({ isWrite, keys: own }, index) =>
    call(isWrite ? "write" : "read", { keys: own }, `${index}`),
  );
  const batch = participant.bench.session.execute(calls, { signal });
  batch.subscribe((event) => {
    if (event.kind === "toolEnded") given.watch.settled(`${place}:${event.turn}:${event.callIndex}`);
  });
  participant.abort = abort;
  participant.batches.push(batch);
}

async function play(
  steps: readonly (typeof drawnStep extends fc.Arbitrary<infer Step> ? Step : never)[],
): Promise<void> {
  const simulated = trackedClock();
  const watch = new Watch(simulated.clock.now);
  const participants = openParticipants(watch, simulated);
  for (const step of steps) {
    if (step.act === "wait") await simulated.advance(step.ms);
    if (step.act === "cancel") participants[step.session]?.abort();
    if (step.act === "execute") {
      const participant = participants[step.session];
      if (participant !== undefined) begin(participant, step.session, { watch, calls: step.calls });
    }
    if (step.act === "end") {
      const open = participants.flatMap(({ tools }) => tools.flatMap(({ pending }) => pending));
      const one = open[step.place % Math.max(1, open.length)];
      if (step.isLost) one?.reject(new Error("lost"));
      else one?.resolve();
    }
    await simulated.advance(0);
    expect(watch.faults).toEqual([]);
  }
  // Nothing ends by itself any more: time alone, time-outs and holds, has to bring every batch to its end.
  const batches = participants.flatMap(({ batches: own }) => own);
  const calls = batches.length * 4;
  await simulated.advance(calls * (TIMEOUT_MS + LIMITS.cancellationGraceMs + LIMITS.abandonAfterMs));
  const results = await Promise.race([
    Promise.all(batches.map(({ result }) => result)),
    simulated.advance(0).then(() => "stuck" as const),
  ]);
  expect(results).not.toBe("stuck");
  expect(watch.faults).toEqual([]);
  if (results === "stuck") return;
  for (const result of results) expect(outcomesOf(result)).not.toContain(undefined);
  expect(simulated.pendingTimers()).toBe(0);
}

describe("EPOCH-4, EPOCH-8, EPOCH-9: sessions that share lanes, whatever they do", () => {
  it("never have two at once on a key, no writer beside a live one, and are never stuck", {
    timeout: LONG_MS,
  }, async () => {
    await fc.assert(fc.asyncProperty(fc.array(drawnStep, { minLength: 4, maxLength: 30 }), play), { numRuns: 300 });
  });
});
