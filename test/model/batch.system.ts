/**
 * One batch of the real kernel, led along a path of its chart.
 *
 * Of its three calls the first is refused; the other two are writes, each in an epoch of its own. Hooks and
 * listeners look at the path to see what they should do, also at moments that only a listener can reach:
 * while repeats are counted, and between that and the plan.
 */
import type { AuthorizeDecision, BatchResult, ExecuteOptions } from "toolkernel";
import { batchMachine } from "toolkernel/machines";
import { simulatedClock } from "toolkernel/testing";
import type { ChartModel, ChartPath, Fact } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { ModelStore } from "./model-store.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { endsSoon, Waiting } from "./waiting.ts";

const CALLS = ["refused", "first", "second"];

interface Memory {
  readonly undecided: number;
  readonly isCancelled: boolean;
}

/** The chart of a batch of three calls. */
export const BATCH_MODEL: ChartModel<Memory> = {
  name: "batch",
  machine: batchMachine,
  input: { turn: 1, calls: CALLS.length },
  facts: [
    { type: "REFUSE" },
    { type: "PREPARED", undecided: 0 },
    { type: "PREPARED", undecided: 2 },
    { type: "DECIDED", undecided: 0 },
    { type: "DECIDED", undecided: 1 },
    { type: "CHECKED" },
    { type: "PLANNED", epochs: 0 },
    { type: "PLANNED", epochs: 2 },
    { type: "EPOCH_SETTLED" },
    { type: "CALLS_SETTLED" },
    { type: "STORE_LOST" },
    { type: "CANCEL" },
  ],
  memory: { undecided: 0, isCancelled: false },
  allows: ({ memory }, { type, undecided }) => {
    if (type === "CANCEL") return !memory.isCancelled;
    return type !== "DECIDED" || Number(undecided) < memory.undecided;
  },
  remember: ({ memory }, { type, undecided }) => ({
    undecided: typeof undecided === "number" ? undecided : memory.undecided,
    isCancelled: memory.isCancelled || type === "CANCEL",
  }),
};

/** Sets up a session for each path; see the file header. */
export function openBatch(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => new BatchSystem(kernel, interpreter, path);
}

class BatchSystem implements PathSystem {
  readonly #path: ChartPath;
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #session: ReturnType<Kernel["core"]["createToolSession"]>;
  readonly #abort = new AbortController();
  readonly #waiting = new Waiting<"authorization" | "write">();
  readonly #store: ModelStore;
  readonly #ended: string[] = [];
  #result: BatchResult | undefined;

  constructor(kernel: Kernel, interpreter: InterpreterName, path: ChartPath) {
    const { createToolSession, defineTool } = kernel.core;
    this.#path = path;
    this.#store = new ModelStore(kernel);
    this.#watch = watchCharts(kernel, interpreter);
    const write = defineTool({
      name: "write",
      description: "Writes.",
      inputSchema: { type: "object" },
      execute: () => this.#waiting.begin("write"),
    });
    this.#session = createToolSession({
      tools: [write],
      runId: "run",
      clock: this.#clock.clock,
      limits: { exactToolRepeatAdvisoryThreshold: 1 },
      jsonSchemaValidator: { compile: () => () => [] },
      hooks: { authorizeToolCall: ({ call }) => this.#authorize(call.id) },
      ...(this.#tells("STORE_LOST") !== undefined && { runStore: this.#store }),
      ...this.#watch.options,
    });
    this.#execute({ signal: this.#abort.signal });
  }

  seen() {
    return this.#watch.seenOf("batch:1");
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  stimulate({ type, undecided }: Fact): void {
    switch (type) {
      case "PREPARED":
        this.#waiting.resolve("authorization", this.#decision());
        break;
      case "DECIDED":
        this.#decide(Number(undecided));
        break;
      case "EPOCH_SETTLED":
        this.#waiting.resolve("write", "done");
        break;
      case "STORE_LOST":
        this.#store.lose();
        // Anything that is to be recorded now finds it out.
        this.#session.noteNewEvidence();
        break;
      case "CANCEL":
        this.#cancel();
        break;
      default:
        throw new Error(`there is no stimulus for ${type}`);
    }
  }

  async finish(): Promise<void> {
    this.#cancel();
    await this.settle();
    for (let round = 0; round < CALLS.length; round += 1) {
      this.#waiting.resolveAll();
      await this.settle();
    }
    await endsSoon(this.#session.close(), () => this.settle());
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
    const ended = [...this.#ended].sort();
    if (ended.join() !== [...CALLS].sort().join()) throw new Error(`CAN-4: ended have ${ended.join(", ")}`);
    // Where the store was lost nobody can say what a result stands for; what is true has been told by events.
    if (this.#tells("STORE_LOST") === undefined) this.#holdResult();
  }

  #holdResult(): void {
    const { settled = [], messages = [] } = this.#result ?? {};
    const results = messages.flatMap((message) => ("callId" in message ? [message.callId] : []));
    if (settled.map(({ call }) => call.id).join() !== CALLS.join() || results.join() !== CALLS.join())
      throw new Error(`CAN-4, EPOCH-6: the results are ${results.join(", ") || "missing"}`);
    const isRefusedWhole = this.#state === "refused";
    if (isRefusedWhole && settled.some(({ outcome }) => outcome !== "refused"))
      throw new Error("PREP-9: a call of a refused response has another result");
  }

  #tells(type: string): Fact | undefined {
    return this.#path.steps.find(({ fact }) => fact.type === type)?.fact;
  }

  #execute(options: ExecuteOptions): void {
    const calls = CALLS.map((id) => ({ id, name: "write", arguments: { id } }));
    const stopReason = this.#tells("REFUSE") === undefined ? "toolUse" : "length";
    this.#result = undefined;
    const batch = this.#session.execute({ calls, stopReason }, options);
    batch.subscribe((event) => {
      if (event.kind === "toolEnded") this.#ended.push(event.callId);
      // The first moment is within the count of repeats, the second behind it and before the plan.
      if (event.kind === "toolRepeatDetected") this.#cancelIfNext("CANCEL");
      if (event.kind === "toolEnded" && event.callId === "refused") this.#cancelIfNext("CHECKED", "CANCEL");
    });
    batch.result.then(
      (result) => {
        this.#result = result;
      },
      () => undefined,
    );
  }

  #cancelIfNext(...wanted: readonly string[]): void {
    const ahead = this.#path.steps.slice(this.seen().length - 1).map(({ fact }) => fact.type);
    if (this.#state === "checkingRepeats" && wanted.every((type, place) => ahead[place] === type)) this.#abort.abort();
  }

  #authorize(callId: string): AuthorizeDecision | Promise<AuthorizeDecision> {
    if (callId === "refused") return { block: "no" };
    return callId === "first" ? this.#decision() : this.#waiting.begin("authorization");
  }

  #decision(): AuthorizeDecision {
    if (this.#tells("PREPARED")?.undecided === 2) return { ask: { question: "may it?" } };
    return this.#isNothingPlanned ? { block: "no" } : undefined;
  }

  get #isNothingPlanned(): boolean {
    return this.#tells("PLANNED")?.epochs === 0;
  }

  get #state(): string {
    return valueName(this.seen().at(-1)?.value ?? "");
  }

  #decide(undecided: number): void {
    const open = this.#result?.approvals ?? [];
    const decision = this.#isNothingPlanned ? { block: "no" } : (true as const);
    const answered = open.slice(0, open.length - undecided).map(({ approvalId }) => [approvalId, decision]);
    this.#execute({ approvals: Object.fromEntries(answered), signal: this.#abort.signal });
  }

  #cancel(): void {
    // While approvals are open no batch listens to a signal: it is asked to go on, by one that has fired.
    if (this.#result?.approvals !== undefined) this.#execute({ signal: AbortSignal.abort() });
    else this.#abort.abort();
  }
}
