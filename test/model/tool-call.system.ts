/**
 * One tool call of the real kernel, led along a path of its chart.
 *
 * The call in question is the third of four. The first, in an epoch of its own, keeps it at the barrier; the
 * second holds its conflict key, and by becoming uncertain blocks it; the fourth is prepared behind it, so
 * that a cancellation or an open approval can find it between its own preparation and its epoch. Every hook
 * and every part of the tool looks at the path to see what it should do, so that each step of the kernel
 * can be told apart.
 */
import type { BatchResult, ExecuteOptions, GivenCall, ToolSession, ToolSessionOptions } from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import type { ChartPath, Fact } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { ModelStore } from "./model-store.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { CallExecution, GRACE_MS } from "./tool-call.execution.ts";
import { CallHost } from "./tool-call.host.ts";
import { endsSoon } from "./waiting.ts";

const HOLDER_PLACE = 1;
const PLACE = 2;
const HOOK_TIMEOUT_MS = 30_000;

/** Sets up a session for each path; see the file header. */
export function openToolCall(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => new ToolCallSystem(kernel, interpreter, path);
}

class ToolCallSystem implements PathSystem {
  readonly #kernel: Kernel;
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #session: ReturnType<Kernel["core"]["createToolSession"]>;
  readonly #calls: readonly GivenCall[];
  readonly #ended = new Map<string, number>();
  readonly #host: CallHost;
  readonly #execution: CallExecution;
  readonly #store: ModelStore;
  readonly #foreign: ToolSession | undefined;
  #result: BatchResult | undefined;
  #wasLost = false;

  constructor(kernel: Kernel, interpreter: InterpreterName, path: ChartPath) {
    this.#kernel = kernel;
    this.#watch = watchCharts(kernel, interpreter);
    this.#host = new CallHost(kernel, path, () => this.seen());
    this.#execution = new CallExecution({
      core: kernel.core,
      host: this.#host,
      clock: this.#clock,
      variant: path.variant,
    });
    const [heldKind, heldPlace] = this.#host.isBlockedLate ? ["settled", HOLDER_PLACE] : ["dispatched", PLACE];
    this.#store = new ModelStore(
      kernel,
      (fact) => fact.kind === heldKind && "index" in fact && fact.index === heldPlace,
    );
    const isRefusedAtOnce = path.steps[0]?.fact.type === "REFUSED";
    this.#calls = [
      { id: "barrier", name: "barrier", arguments: "{}" },
      { id: "holder", name: "holder", arguments: "{}" },
      { id: "subject", name: "subject", arguments: isRefusedAtOnce ? '{"a":1,"a":2}' : "{}" },
      { id: "follower", name: "follower", arguments: "{}" },
    ];
    const compile = (): (() => readonly { pointer: string; message: string }[]) => () => this.#host.checkSchema();
    const common = { clock: this.#clock.clock, lanes: kernel.core.createLanes() };
    this.#foreign = this.#host.isBlockedLate ? this.#holdLane(common) : undefined;
    this.#session = kernel.core.createToolSession({
      ...common,
      runId: "run",
      toolExecution: "parallel",
      tools: this.#host.tools,
      limits: {
        cancellationGraceMs: GRACE_MS,
        hookTimeoutMs: HOOK_TIMEOUT_MS,
        exactToolRepeatAdvisoryThreshold: 0,
        exactToolRepeatTerminationThreshold: this.#host.tells("REPEATED") ? 1 : 8,
      },
      jsonSchemaValidator: { compile },
      hooks: this.#host.hooks,
      ...(this.#host.input.isRecorded && { runStore: this.#store }),
      ...this.#watch.options,
    });
    this.#execute({ signal: this.#host.abort.signal });
  }

  seen() {
    return this.#watch.seenOf(`call:1:${PLACE}`);
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  async stimulate({ type }: Fact): Promise<void> {
    switch (type) {
      case "KEPT":
        this.#host.waiting.resolve("policy", undefined);
        break;
      case "REWRITTEN":
        this.#host.waiting.resolve("policy", { arguments: { rewritten: true } });
        break;
      case "REFINED":
        this.#host.waiting.resolve("refinement", { value: {} });
        break;
      case "ALLOWED":
        this.#host.waiting.resolve("authorization", undefined);
        break;
      case "ASKED":
        this.#host.waiting.resolve("authorization", { ask: { question: "may it?" } });
        break;
      case "REFUSED":
        await this.#refuse();
        break;
      case "GRANTED":
      case "DENIED":
        await this.#decide("subject", type === "GRANTED" ? true : { block: "no" });
        break;
      case "PLANNED":
      case "REPEATED":
      case "CHECKED":
        await this.#decide("follower", true);
        break;
      case "EPOCH_STARTED":
        this.#host.waiting.resolve("barrier", "done");
        break;
      case "ADMITTED":
        await this.#admit();
        break;
      case "RECORDED":
        this.#store.release();
        break;
      case "BLOCKED":
        if (this.#host.isBlockedLate) this.#store.release();
        else this.#host.waiting.reject("holder", new this.#kernel.core.OutcomeUnknownError("nobody knows"));
        break;
      case "CANCEL":
        // A dispatch that cannot be recorded is none.
        if (this.#host.state === "recording")
          await this.#execution.either(
            () => this.#cancel(),
            () => this.#loseStore(),
          );
        else this.#cancel();
        break;
      case "FINISHED":
        this.#host.waiting.resolve("shaping", undefined);
        break;
      default:
        await this.#execution.stimulate(type);
    }
  }

  /** Ends everything that waits, and holds the call to its one result. */
  async finish(): Promise<void> {
    this.#cancel();
    await this.settle();
    for (let round = 0; round < 3; round += 1) {
      this.#host.waiting.resolveAll();
      this.#store.release();
      await this.#clock.advance(GRACE_MS);
    }
    await endsSoon(Promise.all([this.#session.close(), this.#foreign?.close()]), () => this.settle());
    const ends = this.#calls.map(({ id }) => this.#ended.get(String(id)) ?? 0);
    if (ends.some((count) => count !== 1)) throw new Error(`CAN-4: calls ended ${ends.join(", ")} times`);
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
    // Where the store was lost nobody can say what a result stands for; what is true has been told by events.
    if (this.#wasLost) return;
    const settled = this.#result?.settled.map(({ call, outcome }) => `${call.id} ${outcome}`) ?? [];
    const outcome = this.#host.state;
    if (settled.length !== this.#calls.length || settled[PLACE] !== `subject ${outcome}`)
      throw new Error(`CAN-4: the results are ${settled.join(", ") || "missing"}, the call's chart ends ${outcome}`);
  }

  /** Lets the call in; where it is to be blocked all the same, a write has become uncertain, which is being recorded. */
  async #admit(): Promise<void> {
    if (!this.#host.isBlockedLate) {
      this.#host.waiting.resolve("holder", "done");
      return;
    }
    this.#host.waiting.reject("holder", new this.#kernel.core.OutcomeUnknownError("nobody knows"));
    await this.settle();
    this.#host.waiting.resolve("foreign", "done");
  }

  #execute(options: ExecuteOptions): void {
    const batch = this.#session.execute(this.#calls, options);
    batch.subscribe((event) => {
      if (event.kind === "toolEnded") this.#ended.set(event.callId, (this.#ended.get(event.callId) ?? 0) + 1);
    });
    batch.result.then(
      (result) => {
        this.#result = result;
      },
      () => undefined,
    );
  }

  /** Another session that holds the lane of the call's key. */
  #holdLane(common: Pick<ToolSessionOptions, "clock" | "lanes">): ToolSession {
    const tools = [this.#host.companion("foreign", { conflictKey: () => "k" })];
    const foreign = this.#kernel.core.createToolSession({ ...common, tools });
    void foreign.execute([{ name: "foreign" }], { turn: 9 });
    return foreign;
  }

  #refuse(): void | Promise<void> {
    const hook = this.#host.state === "preparing.rewriting" ? "policy" : "authorization";
    if (this.#host.state === "preparing.refining") {
      return this.#execution.either(
        () => this.#host.waiting.resolve("refinement", { issues: [{ message: "is wrong" }] }),
        () => this.#host.waiting.reject("refinement", new Error("the schema broke")),
      );
    }
    return this.#execution.either(
      () => this.#host.waiting.resolve(hook, { block: "no" }),
      () => this.#host.waiting.reject(hook, new Error("the hook broke")),
      () => this.#host.waiting.resolve(hook, "nonsense"),
      () => this.#clock.advance(HOOK_TIMEOUT_MS),
    );
  }

  async #decide(callId: string, decision: true | { block: string }): Promise<void> {
    const approvals = this.#result?.approvals?.filter((approval) => approval.callId === callId) ?? [];
    const decisions = Object.fromEntries(approvals.map(({ approvalId }) => [approvalId, decision]));
    this.#result = undefined;
    this.#execute({ approvals: decisions, signal: this.#host.abort.signal });
    await this.settle();
  }

  #loseStore(): void {
    this.#wasLost = true;
    this.#store.lose();
  }

  #cancel(): void {
    // While approvals are open no batch listens to a signal: it is asked to go on, by one that has fired.
    if (this.#result?.approvals !== undefined) this.#execute({ signal: AbortSignal.abort() });
    else this.#host.abort.abort();
    this.#host.waiting.resolve("barrier", "done");
  }
}
