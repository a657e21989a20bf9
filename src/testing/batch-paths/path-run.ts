/**
 * Runs a batch along one path.
 * Owns: the session, its clock, the events. Does not own: the host's world. Time stands still but where a
 * call is to time out or the batch was cancelled; real work of bodies and hooks is waited for.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type BatchResult, createToolSession, DEFAULT_LIMITS, type KernelEvent, type ToolSession } from "toolkernel";
import { RuleViolation } from "../rule-violation.ts";
import { simulatedClock } from "../simulated-clock.ts";
import { checkPath } from "./check-path.ts";
import { type GatedCall, GatedTools } from "./gated-tools.ts";
import type { CheckedPathsOptions, PathHooks, PathStep } from "./path-options.ts";
import type { PathPlan } from "./plan-paths.ts";

/** Turns of the event loop in which all that promises alone can reach has happened. */
const FREE_TURNS = 50;
/** Turns in which real work of bodies and hooks is waited for; seconds, as turns without work are short. */
const MOST_TURNS = 2_000_000;
const MOST_GRACES = 32;

/** Runs a path; see the file header. Rejects with `RuleViolation` or with what a hook of the host threw. */
export async function runPath(options: CheckedPathsOptions, plan: PathPlan, hooks: PathHooks): Promise<BatchResult> {
  await hooks.setup?.();
  try {
    return await new PathRun(options, plan, hooks.check).run();
  } finally {
    await hooks.teardown?.();
  }
}

class PathRun {
  readonly #options: CheckedPathsOptions;
  readonly #plan: PathPlan;
  readonly #check: PathHooks["check"];
  readonly #clock = simulatedClock();
  readonly #gated: GatedTools;
  readonly #session: ToolSession;
  readonly #abort = new AbortController();
  readonly #events: KernelEvent[] = [];
  readonly #ended = new Set<number>();
  /** Places of calls that ended, or ran, without their signal fired: their paths say how. */
  readonly #undisturbed = new Set<number>();
  #eventsBeforeCancel: number | undefined;
  #result: BatchResult | undefined;
  #failure: { readonly error: unknown } | undefined;
  #letGo = 0;

  constructor(options: CheckedPathsOptions, plan: PathPlan, check: PathHooks["check"]) {
    this.#options = options;
    this.#plan = plan;
    this.#check = check;
    const { tools, calls, session } = options;
    const { clock } = this.#clock;
    this.#gated = new GatedTools({ tools, plan, now: () => clock.now(), callNames: calls.map(({ name }) => name) });
    this.#session = createToolSession({ ...session, tools: this.#gated.tools, clock });
  }

  async run(): Promise<BatchResult> {
    try {
      this.#execute({});
      await this.#until(() => this.#isOver || this.#gated.waiting.length > 0);
      await this.#tell({ what: "started" });
      while (!this.#isOver) await this.#step();
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#tell({ what: "ended" });
      return this.#checked();
    } finally {
      this.#gated.release();
      this.#abort.abort();
      await this.#clock.advance(this.#graceMs);
      await this.#session.close();
    }
  }

  get #isOver(): boolean {
    return this.#failure !== undefined || (this.#result !== undefined && this.#result.approvals === undefined);
  }

  get #graceMs(): number {
    return this.#options.session.limits?.cancellationGraceMs ?? DEFAULT_LIMITS.cancellationGraceMs;
  }

  /** Runs the response, or continues it; approvals on the way are granted. */
  #execute(approvals: Readonly<Record<string, true>>): void {
    const batch = this.#session.execute(this.#options.calls, { signal: this.#abort.signal, approvals });
    batch.subscribe((event) => {
      this.#events.push(event);
      if (event.kind === "toolEnded") this.#ended.add(event.callIndex);
    });
    batch.result.then(
      (result) => {
        this.#result = result;
        if (result.approvals === undefined) return;
        this.#execute(Object.fromEntries(result.approvals.map(({ approvalId }) => [approvalId, true as const])));
      },
      (error: unknown) => {
        this.#failure = { error };
      },
    );
  }

  async #step(): Promise<void> {
    if (this.#plan.cancelAfter === this.#letGo && !this.#abort.signal.aborted) {
      this.#eventsBeforeCancel = this.#events.length;
      this.#abort.abort("cancelled by the path");
      await this.#settle();
      await this.#tell({ what: "cancelled" });
    }
    const [next] = this.#gated.waiting;
    if (next === undefined) await this.#awaitNext();
    else await this.#letEnd(next);
  }

  /** Nothing runs: a hook of the host is at work, or an abandoned write holds others back until its time is over. */
  async #awaitNext(): Promise<void> {
    const isMoving = (): boolean => this.#isOver || this.#gated.waiting.length > 0;
    for (let turn = 0; turn < FREE_TURNS && !isMoving(); turn += 1) await nextTurn();
    if (!isMoving() && this.#clock.pendingTimers() > 0) await this.#clock.advance(this.#graceMs);
    else await this.#until(isMoving);
  }

  async #letEnd(call: GatedCall): Promise<void> {
    const outcome = this.#plan.outcomes[call.index] ?? "succeeds";
    if (!call.signal.aborted) this.#undisturbed.add(call.index);
    call.letGo();
    await call.worked;
    await this.#settle();
    if (outcome === "timesOutAfter" && !this.#ended.has(call.index)) await this.#timeOut(call);
    await this.#until(() => this.#ended.has(call.index) || this.#isOver);
    await this.#settle();
    this.#letGo += 1;
    await this.#tell({ what: "letGo", callId: call.callId, outcome });
  }

  /** Passes a call's time-out and grace. Others whose time is over by then answer within their grace. */
  async #timeOut(call: GatedCall): Promise<void> {
    if (!call.signal.aborted) {
      const { session } = this.#options;
      const timeoutMs = call.tool.timeoutMs ?? session.limits?.toolTimeoutMs ?? DEFAULT_LIMITS.toolTimeoutMs;
      await this.#clock.advance(Math.max(0, call.dispatchedAtMs + timeoutMs - this.#clock.clock.now()));
    }
    for (const other of this.#gated.waiting.filter(({ signal }) => signal.aborted)) {
      other.letGo();
      await other.worked;
      await this.#settle();
    }
    // A durable action that is saving its receipt has longer than the grace.
    for (let grace = 0; grace < MOST_GRACES && !this.#ended.has(call.index) && !this.#isOver; grace += 1) {
      await this.#clock.advance(this.#graceMs);
      for (let turn = 0; turn < FREE_TURNS && !this.#ended.has(call.index); turn += 1) await nextTurn();
    }
  }

  #checked(): BatchResult {
    const result = this.#result;
    if (result === undefined) throw new RuleViolation("CAN-4", "the batch has no result");
    const { calls, session, tools } = this.#options;
    checkPath({
      calls,
      tools,
      result,
      events: this.#events,
      eventsBeforeCancel: this.#eventsBeforeCancel,
      maxConcurrentTools: session.limits?.maxConcurrentTools ?? DEFAULT_LIMITS.maxConcurrentTools,
      outcomes: this.#plan.outcomes,
      undisturbed: this.#undisturbed,
    });
    return result;
  }

  async #tell(step: Omit<PathStep, "running" | "events">): Promise<void> {
    const running = this.#gated.calls.filter(({ index }) => !this.#ended.has(index)).map(({ callId }) => callId);
    await this.#check?.({ ...step, running, events: [...this.#events] });
  }

  #settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  /** Waits for what needs no further stimulus, real work of the host's included. */
  async #until(test: () => boolean): Promise<void> {
    await this.#settle();
    for (let turn = 0; turn < MOST_TURNS && !test(); turn += 1) await nextTurn();
    if (!test()) throw new RuleViolation("CAN-4", "the batch waits for something that never comes");
  }
}
