/**
 * Batches on the real kernel and on the composed scheduler, side by side: whatever happens to the one happens
 * to the other, and both must tell the same story.
 * Owns: the simulated time, the executors' promises, the deadlines by which time is told to the scheduler.
 */
import type { BatchResult, RecordedEvent } from "toolkernel";
import { assertOrder, simulatedClock } from "toolkernel/testing";
import type { ComposedBatch } from "./composed-batch.ts";
import { applyStimulus, startScope, stimuliOf } from "./composed-steps.ts";
import { describeScope, describeStimulus } from "./explore.ts";
import { faultOfDispatch, faultOfMoment, faultOfResult } from "./invariants.ts";
import type { Kernel } from "./kernel.ts";
import type { SeededRandom } from "./random.ts";
import type { CallState, SchedulerParts, Scope, Stimulus } from "./scheduler-state.ts";
import { ToldExecutor } from "./told-executor.ts";
import { endsSoon } from "./waiting.ts";

const GRACE_MS = 997;
const ABANDON_AFTER_MS = 30_011;

/** The kernel, and the parts of the scheduler that is to do the same. */
export interface Both {
  readonly core: Kernel["core"];
  readonly parts: SchedulerParts;
}

/** A deadline of a call, as the kernel keeps it too. */
interface Deadline {
  readonly atMs: number;
  readonly call: number;
  readonly stimulus: Stimulus;
}

/** Runs a scope on both, choosing what happens by chance. Throws the first difference or broken rule. */
export async function runPaired(both: Both, scope: Scope, random: SeededRandom): Promise<number> {
  const pair = new PairedBatches(both, scope, random);
  try {
    await pair.run();
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}\n    after ${pair.way.join(", ")}\n    in ${describeScope(scope)}`);
  }
  return pair.way.length;
}

class PairedBatches {
  readonly way: string[] = [];
  readonly #core: Kernel["core"];
  readonly #scope: Scope;
  readonly #random: SeededRandom;
  readonly #composed: ComposedBatch;
  readonly #clock = simulatedClock();
  readonly #executors = new Map<number, ToldExecutor>();
  readonly #timeouts: readonly number[];
  readonly #dispatchedAtMs = new Map<number, number>();
  /** When each call's signal fired; in the order in which they did. */
  readonly #signalledAtMs = new Map<number, number>();
  readonly #aborts: readonly AbortController[];
  readonly #realStory: string[] = [];
  readonly #story: string[] = [];
  readonly #events: RecordedEvent[] = [];
  #fault: string | undefined;

  constructor({ parts, core }: Both, scope: Scope, random: SeededRandom) {
    this.#core = core;
    this.#scope = scope;
    this.#random = random;
    this.#aborts = scope.batches.map(() => new AbortController());
    // No two alike, so that of two calls dispatched at once one times out first.
    this.#timeouts = scope.batches.flat().map((_kind, index) => 1_000 * (1 + random.below(20)) + 7 * index);
    this.#composed = startScope(parts, scope, {
      onDispatch: (system, call) => {
        this.#fault ??= faultOfDispatch(system, call);
        this.#dispatchedAtMs.set(call.index, this.#clock.clock.now());
        this.#story.push(`${call.index} starts`);
      },
      onSettled: (system, call) => {
        this.#fault ??= faultOfResult(system, call);
        this.#story.push(`${call.index} ends ${String(call.row.value)}`);
      },
    });
  }

  async run(): Promise<void> {
    const { session, results } = this.#open();
    await this.#clock.advance(0);
    this.#compare();
    while (!this.#composed.isOver) {
      await this.#happen();
      this.#compare();
    }
    for (const executor of this.#executors.values()) executor.end("EXECUTOR_ENDED");
    await this.#clock.advance(ABANDON_AFTER_MS);
    const given: BatchResult[] = [];
    await endsSoon(
      Promise.all(results).then((all) => given.push(...all)),
      () => this.#clock.advance(0),
    );
    this.#compareResults(given);
    await endsSoon(session.close(), () => this.#clock.advance(0));
    assertOrder(this.#events);
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
  }

  #open() {
    const { createToolSession, defineTool } = this.#core;
    const kinds = this.#scope.batches.flat();
    const tools = kinds.map(({ isWrite, conflictKeys, executionMode }, index) =>
      defineTool({
        name: `tool${index}`,
        description: "A call of its own.",
        inputSchema: { type: "object" },
        risk: isWrite ? "nonIdempotentWrite" : "readOnly",
        executionMode,
        timeoutMs: this.#timeouts[index],
        conflictKey: () => conflictKeys,
        execute: () => {
          const executor = new ToldExecutor(this.#core);
          this.#executors.set(index, executor);
          return executor.answer;
        },
      }),
    );
    const session = createToolSession({
      tools,
      runId: "run",
      clock: this.#clock.clock,
      toolExecution: this.#scope.mode,
      limits: {
        maxConcurrentTools: this.#scope.cap,
        cancellationGraceMs: GRACE_MS,
        abandonAfterMs: ABANDON_AFTER_MS,
      },
      jsonSchemaValidator: { compile: () => () => [] },
    });
    let first = 0;
    const results = this.#scope.batches.map((batch, place) => {
      const calls = batch.map((_kind, index) => ({ id: String(first + index), name: `tool${first + index}` }));
      first += batch.length;
      const running = session.execute(calls, { signal: this.#aborts[place]?.signal });
      running.subscribe((event) => {
        this.#events.push(event);
        if (event.kind === "toolDispatched") this.#realStory.push(`${event.callId} starts`);
        if (event.kind === "toolEnded") this.#realStory.push(`${event.callId} ends ${event.outcome}`);
      });
      return running.result;
    });
    return { session, results };
  }

  async #happen(): Promise<void> {
    const stimuli = stimuliOf(this.#composed);
    const deadline = this.#nextDeadlines();
    const answers = stimuli.filter((stimulus) => stimulus.kind === "call" && isAnswer(stimulus.fact));
    const isTime = deadline.length > 0 && (answers.length === 0 || this.#random.percent(15));
    if (isTime) await this.#passTime(deadline);
    else if (stimuli[0]?.kind === "cancel" && (answers.length === 0 || this.#random.percent(3))) this.#cancel();
    else this.#answer(this.#pickAnswer(answers));
    await this.#clock.advance(0);
  }

  /** Mostly successes: after a few lost writes nothing would be left to run. */
  #pickAnswer(answers: readonly Stimulus[]): Stimulus {
    const good = answers.filter(
      (stimulus) => stimulus.kind === "call" && stimulus.fact !== "THREW" && stimulus.fact !== "LOST",
    );
    return this.#random.pick(good.length > 0 && this.#random.percent(85) ? good : answers);
  }

  #cancel(): void {
    this.way.push("CANCEL");
    const nowMs = this.#clock.clock.now();
    for (const { index, row } of this.#composed.current)
      if (row.value === "running") this.#signalledAtMs.set(index, nowMs);
    const batch = this.#composed.batch;
    applyStimulus(this.#composed, { kind: "cancel" });
    this.#aborts[batch]?.abort();
  }

  #answer(stimulus: Stimulus): void {
    if (stimulus.kind !== "call") throw new Error("nothing can happen");
    this.way.push(describeStimulus(stimulus));
    const executor = this.#executors.get(stimulus.call);
    applyStimulus(this.#composed, stimulus);
    executor?.end(stimulus.fact);
  }

  async #passTime(deadlines: readonly Deadline[]): Promise<void> {
    const [first] = deadlines;
    if (first === undefined) return;
    const distanceMs = first.atMs - this.#clock.clock.now();
    this.way.push(deadlines.map(({ stimulus }) => describeStimulus(stimulus)).join(" and "));
    await this.#clock.advance(distanceMs);
    for (const { call, stimulus } of deadlines) {
      if (stimulus.kind === "call" && stimulus.fact === "TIMED_OUT") this.#signalledAtMs.set(call, first.atMs);
      applyStimulus(this.#composed, stimulus);
    }
  }

  /** The deadlines that come next, all of one moment, in the order in which the kernel has armed them. */
  #nextDeadlines(): Deadline[] {
    const deadlines = this.#composed.calls.flatMap((call) => this.#deadlineOf(call) ?? []);
    const nextMs = Math.min(...deadlines.map(({ atMs }) => atMs));
    const signalled = [...this.#signalledAtMs.keys()];
    return deadlines
      .filter(({ atMs }) => atMs === nextMs)
      .sort((one, other) => signalled.indexOf(one.call) - signalled.indexOf(other.call));
  }

  #deadlineOf({ index: call, row, heldUntilMs, hasLeft }: CallState): Deadline | undefined {
    const signalledMs = this.#signalledAtMs.get(call) ?? 0;
    if (row.value === "running") {
      const atMs = (this.#dispatchedAtMs.get(call) ?? 0) + (this.#timeouts[call] ?? 0);
      return { atMs, call, stimulus: { kind: "call", call, fact: "TIMED_OUT" } };
    }
    if (row.value === "stopping")
      return { atMs: signalledMs + GRACE_MS, call, stimulus: { kind: "call", call, fact: "GRACE_OVER" } };
    if (hasLeft || heldUntilMs === undefined || heldUntilMs === 0) return undefined;
    return { atMs: signalledMs + ABANDON_AFTER_MS, call, stimulus: { kind: "holdOver", call } };
  }

  #compare(): void {
    this.#fault ??= faultOfMoment(this.#composed);
    if (this.#fault !== undefined) throw new Error(this.#fault);
    const [wanted, found] = [this.#story.join("; "), this.#realStory.join("; ")];
    if (wanted !== found) throw new Error(`the scheduler says: ${wanted}\n    the kernel did: ${found}`);
  }

  #compareResults(results: readonly BatchResult[]): void {
    const outcomes = results.flatMap(({ settled }) => settled.map(({ call, outcome }) => `${call.id} ${outcome}`));
    const messages = results.flatMap((result) =>
      result.messages.flatMap((message) => ("callId" in message ? [message.callId] : [])),
    );
    const wanted = this.#composed.calls.map(({ index, row }) => `${index} ${String(row.value)}`);
    if (outcomes.join() !== wanted.join()) throw new Error(`CAN-4: the results are ${outcomes.join(", ")}`);
    if (messages.join() !== this.#composed.calls.map(({ index }) => index).join())
      throw new Error(`EPOCH-6: the messages are those of ${messages.join(", ")}`);
  }
}

function isAnswer(fact: string): boolean {
  return fact !== "TIMED_OUT" && fact !== "GRACE_OVER";
}
