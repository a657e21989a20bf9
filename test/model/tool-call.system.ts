/**
 * One tool call of the real kernel, led along a path of its chart.
 *
 * The call in question is the third of four. The first, in an epoch of its own, keeps it at the barrier; the
 * second holds its conflict key, and by becoming uncertain blocks it; the fourth is prepared behind it, so
 * that a cancellation or an open approval can find it between its own preparation and its epoch. Every hook
 * and every part of the tool looks at the path to see what it should do, so that each step of the kernel
 * can be told apart.
 */
import type {
  AuthorizeDecision,
  BatchResult,
  ExecuteOptions,
  GivenCall,
  RewriteDecision,
  ToolSession,
  ToolSessionOptions,
} from "toolkernel";
import { toolCallMachine } from "toolkernel/machines";
import { simulatedClock } from "toolkernel/testing";
import type { ChartModel, ChartPath, Fact } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { ModelStore } from "./model-store.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { endsSoon, Waiting } from "./waiting.ts";

const HOLDER_PLACE = 1;
const PLACE = 2;
const TOOL_TIMEOUT_MS = 60_000;
const GRACE_MS = 1_000;
const HOOK_TIMEOUT_MS = 30_000;

const FACTS: readonly Fact[] = toolCallMachine.events
  .filter((type) => !type.startsWith("xstate."))
  .map((type) => ({ type }));

interface CallInput {
  readonly isWrite: boolean;
  readonly throwIsUncertain: boolean;
  readonly canRecover: boolean;
  readonly isRecorded: boolean;
}

const BOTH = [true, false];

/** The chart of a call, once for every kind of tool it can be of, and for two of them in a run that is recorded. */
export const TOOL_CALL_MODELS: readonly ChartModel[] = [
  ...BOTH.flatMap((isWrite) =>
    BOTH.flatMap((throwIsUncertain) =>
      BOTH.map((canRecover) => modelOf({ isWrite, throwIsUncertain, canRecover, isRecorded: false })),
    ),
  ),
  ...BOTH.map((isWrite) => modelOf({ isWrite, throwIsUncertain: true, canRecover: false, isRecorded: true })),
];

function modelOf(input: CallInput): ChartModel {
  const marks = [
    input.throwIsUncertain ? "" : ", whose throws mean failure",
    input.canRecover ? ", with recover" : "",
    input.isRecorded ? ", recorded" : "",
  ];
  return {
    name: `${input.isWrite ? "write" : "read"}${marks.join("")}`,
    machine: toolCallMachine,
    input: { callId: "subject", ...input },
    facts: FACTS,
    memory: {},
    // Once it is prepared nobody asks any more whether its arguments were rewritten.
    mattering: ({ value, context }) =>
      typeof value === "object" && "preparing" in value ? context : { ...context, isRewritten: "" },
    allows: ({ chart }, { type }) => {
      const { isWrite, isRunCancelled, hasExecutorEnded } = chart.context as CallInput & {
        readonly isRunCancelled: boolean;
        readonly hasExecutorEnded: boolean;
      };
      switch (type) {
        case "BLOCKED":
          return isWrite; // a read is never blocked (UNC-1)
        case "CANCEL":
          return !isRunCancelled; // a batch is cancelled once
        case "EXECUTOR_ENDED":
          return !hasExecutorEnded;
        default:
          return true;
      }
    },
  };
}

/** Sets up a session for each path; see the file header. */
export function openToolCall(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => new ToolCallSystem(kernel, interpreter, path);
}

type WaitName =
  | "policy"
  | "refinement"
  | "authorization"
  | "answer"
  | "recovery"
  | "shaping"
  | "barrier"
  | "holder"
  | "foreign";

class ToolCallSystem implements PathSystem {
  readonly #kernel: Kernel;
  readonly #path: ChartPath;
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #session: ReturnType<Kernel["core"]["createToolSession"]>;
  readonly #abort = new AbortController();
  readonly #calls: readonly GivenCall[];
  readonly #asks: boolean;
  readonly #input: CallInput;
  readonly #ended = new Map<string, number>();
  readonly #waiting = new Waiting<WaitName>();
  readonly #store: ModelStore;
  readonly #foreign: ToolSession | undefined;
  #result: BatchResult | undefined;
  #wasLost = false;

  constructor(kernel: Kernel, interpreter: InterpreterName, path: ChartPath) {
    this.#kernel = kernel;
    this.#path = path;
    this.#input = path.model.input as CallInput; // the models above are given no other
    this.#watch = watchCharts(kernel, interpreter);
    this.#asks = this.#tells("ASKED");
    const [heldKind, heldPlace] = this.#isBlockedLate ? ["settled", HOLDER_PLACE] : ["dispatched", PLACE];
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
    const compile = (): (() => readonly { pointer: string; message: string }[]) => () => this.#checkSchema();
    const common = { clock: this.#clock.clock, lanes: kernel.core.createLanes() };
    this.#foreign = this.#isBlockedLate ? this.#holdLane(common) : undefined;
    this.#session = kernel.core.createToolSession({
      ...common,
      runId: "run",
      toolExecution: "parallel",
      tools: this.#tools(),
      limits: {
        cancellationGraceMs: GRACE_MS,
        hookTimeoutMs: HOOK_TIMEOUT_MS,
        exactToolRepeatAdvisoryThreshold: 0,
        exactToolRepeatTerminationThreshold: this.#tells("REPEATED") ? 1 : 8,
      },
      jsonSchemaValidator: { compile },
      hooks: {
        rewriteToolCall: ({ call }) => this.#decidePolicy(call.id),
        authorizeToolCall: ({ call }) => this.#decideAuthorization(call.id),
        afterToolCall: ({ call }) => (call.id === "subject" ? this.#waiting.begin("shaping") : undefined),
      },
      ...(this.#input.isRecorded && { runStore: this.#store }),
      ...this.#watch.options,
    });
    this.#execute({ signal: this.#abort.signal });
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
        this.#waiting.resolve("policy", undefined);
        break;
      case "REWRITTEN":
        this.#waiting.resolve("policy", { arguments: { rewritten: true } });
        break;
      case "REFINED":
        this.#waiting.resolve("refinement", { value: {} });
        break;
      case "ALLOWED":
        this.#waiting.resolve("authorization", undefined);
        break;
      case "ASKED":
        this.#waiting.resolve("authorization", { ask: { question: "may it?" } });
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
        this.#waiting.resolve("barrier", "done");
        break;
      case "ADMITTED":
        await this.#admit();
        break;
      case "RECORDED":
        this.#store.release();
        break;
      case "BLOCKED":
        if (this.#isBlockedLate) this.#store.release();
        else this.#waiting.reject("holder", new this.#kernel.core.OutcomeUnknownError("nobody knows"));
        break;
      case "CANCEL":
        // A dispatch that cannot be recorded is none.
        if (this.#state === "recording")
          await this.#either(
            () => this.#cancel(),
            () => this.#loseStore(),
          );
        else this.#cancel();
        break;
      case "FINISHED":
        this.#waiting.resolve("shaping", undefined);
        break;
      default:
        await this.#stimulateExecution(type);
    }
  }

  async #stimulateExecution(type: string): Promise<void> {
    const { ToolError, OutcomeUnknownError, toolResult } = this.#kernel.core;
    switch (type) {
      case "SUCCEEDED":
        this.#waiting.resolve("answer", "done");
        break;
      case "FAILED":
        await this.#either(
          () => this.#waiting.reject("answer", new ToolError("it did not happen")),
          () => this.#waiting.resolve("answer", toolResult({ value: "it did not happen", isError: true })),
        );
        break;
      case "LOST":
        await this.#either(
          () => this.#waiting.reject("answer", new OutcomeUnknownError("nobody knows")),
          // Of a read it would be a result like any other: a read is never uncertain (UNC-1).
          this.#input.isWrite && (() => this.#waiting.resolve("answer", toolResult({ outcomeUncertain: true }))),
        );
        break;
      case "THREW":
        this.#waiting.reject("answer", new Error("broken"));
        break;
      case "EXECUTOR_ENDED":
        this.#waiting.resolve("answer", "late");
        break;
      case "TIMED_OUT":
        await this.#clock.advance(TOOL_TIMEOUT_MS);
        break;
      case "GRACE_OVER":
        await this.#clock.advance(GRACE_MS);
        break;
      case "CONFIRMED":
        this.#waiting.resolve("recovery", toolResult({ value: "it happened" }));
        break;
      case "DISPROVED":
        this.#waiting.resolve("recovery", toolResult({ value: "it did not happen", isError: true }));
        break;
      case "UNRESOLVED":
        await this.#either(
          () => this.#waiting.resolve("recovery", undefined),
          () => this.#waiting.reject("recovery", new Error("nobody can say")),
          () => this.#waiting.resolve("recovery", { value: "no declared result" }),
          this.#state === "recovering" && (() => this.#clock.advance(TOOL_TIMEOUT_MS)),
        );
        break;
      default:
        throw new Error(`there is no stimulus for ${type}`);
    }
  }

  /** Ends everything that waits, and holds the call to its one result. */
  async finish(): Promise<void> {
    this.#cancel();
    await this.settle();
    for (let round = 0; round < 3; round += 1) {
      this.#waiting.resolveAll();
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
    const outcome = this.#state;
    if (settled.length !== this.#calls.length || settled[PLACE] !== `subject ${outcome}`)
      throw new Error(`CAN-4: the results are ${settled.join(", ") || "missing"}, the call's chart ends ${outcome}`);
  }

  /** Lets the call in; where it is to be blocked all the same, a write has become uncertain, which is being recorded. */
  async #admit(): Promise<void> {
    if (!this.#isBlockedLate) {
      this.#waiting.resolve("holder", "done");
      return;
    }
    this.#waiting.reject("holder", new this.#kernel.core.OutcomeUnknownError("nobody knows"));
    await this.settle();
    this.#waiting.resolve("foreign", "done");
  }

  /**
   * Whether an uncertain write is to block the call while its dispatch is being recorded. That write has no
   * key then, and another session lets the call in while the store is still busy with the write's end.
   */
  get #isBlockedLate(): boolean {
    return this.#tells("ADMITTED") && this.#tells("BLOCKED");
  }

  #tells(type: string): boolean {
    return this.#path.steps.some(({ fact }) => fact.type === type);
  }

  get #state(): string {
    return valueName(this.seen().at(-1)?.value ?? "");
  }

  /** The next fact of the path. */
  #next(): string | undefined {
    return this.#path.steps[this.seen().length - 1]?.fact.type;
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
    const tools = [this.#companion("foreign", { conflictKey: () => "k" })];
    const foreign = this.#kernel.core.createToolSession({ ...common, tools });
    void foreign.execute([{ name: "foreign" }], { turn: 9 });
    return foreign;
  }

  #companion(name: WaitName | "follower", options: object = {}) {
    return this.#kernel.core.defineTool({
      name,
      description: name,
      inputSchema: { type: "object" },
      trackExactRepeats: false,
      ...options,
      execute: () => this.#waiting.begin(name === "follower" ? "barrier" : name),
    });
  }

  #tools() {
    const { defineTool } = this.#kernel.core;
    const { isWrite, throwIsUncertain, canRecover } = this.#input;
    const validate = (): Promise<never> => this.#waiting.begin("refinement");
    const subject = defineTool({
      name: "subject",
      description: "The call in question.",
      inputSchema: { "~standard": { version: 1, vendor: "test", validate } },
      inputJsonSchema: { type: "object" },
      risk: isWrite ? "idempotentWrite" : "readOnly",
      timeoutMs: TOOL_TIMEOUT_MS,
      throwMeans: throwIsUncertain ? "uncertain" : "failed",
      prepareArguments: () => this.#shape(),
      conflictKey: () => this.#giveKey(),
      execute: () => this.#waiting.begin("answer"),
      ...(canRecover && { recover: () => this.#waiting.begin("recovery") }),
    });
    return [
      this.#companion("barrier", { executionMode: "sequential" }),
      this.#companion("holder", this.#isBlockedLate ? {} : { conflictKey: () => "k" }),
      subject,
      this.#companion("follower", { executionMode: "sequential" }),
    ];
  }

  #shape(): undefined {
    if (this.#next() === "REFUSED") throw new Error("no shape");
    if (this.#next() === "CANCEL") this.#abort.abort();
    return undefined;
  }

  #checkSchema(): readonly { pointer: string; message: string }[] {
    if (this.#state !== "preparing.validating") return [];
    if (this.#next() === "CANCEL") this.#abort.abort();
    return this.#next() === "REFUSED" ? [{ pointer: "", message: "is wrong" }] : [];
  }

  #giveKey(): string {
    if (this.#next() === "REFUSED") throw new Error("no key");
    if (this.#next() === "CANCEL") this.#abort.abort();
    return "k";
  }

  #decidePolicy(callId: string): RewriteDecision | Promise<RewriteDecision> {
    if (callId === "subject") return this.#waiting.begin("policy");
    // The call is still to be prepared, or has just been: what can only come then comes now.
    const isSubjectsTurn = callId === "barrier" || callId === "follower";
    const isDue = this.#next() === "CANCEL" && (callId === "barrier" ? this.seen().length === 1 : !this.#asks);
    if (isSubjectsTurn && isDue) this.#abort.abort();
    return undefined;
  }

  #decideAuthorization(callId: string): AuthorizeDecision | Promise<AuthorizeDecision> {
    if (callId === "subject") return this.#waiting.begin("authorization");
    return callId === "follower" && this.#asks ? { ask: { question: "and this?" } } : undefined;
  }

  #refuse(): void | Promise<void> {
    const hook = this.#state === "preparing.rewriting" ? "policy" : "authorization";
    if (this.#state === "preparing.refining") {
      return this.#either(
        () => this.#waiting.resolve("refinement", { issues: [{ message: "is wrong" }] }),
        () => this.#waiting.reject("refinement", new Error("the schema broke")),
      );
    }
    return this.#either(
      () => this.#waiting.resolve(hook, { block: "no" }),
      () => this.#waiting.reject(hook, new Error("the hook broke")),
      () => this.#waiting.resolve(hook, "nonsense"),
      () => this.#clock.advance(HOOK_TIMEOUT_MS),
    );
  }

  /** Lets a fact come about in one of the ways in which it can. */
  #either(...ways: readonly ((() => void | Promise<void>) | false)[]): void | Promise<void> {
    const possible = ways.filter((way) => way !== false);
    return possible[this.#path.variant % possible.length]?.();
  }

  async #decide(callId: string, decision: true | { block: string }): Promise<void> {
    const approvals = this.#result?.approvals?.filter((approval) => approval.callId === callId) ?? [];
    const decisions = Object.fromEntries(approvals.map(({ approvalId }) => [approvalId, decision]));
    this.#result = undefined;
    this.#execute({ approvals: decisions, signal: this.#abort.signal });
    await this.settle();
  }

  #loseStore(): void {
    this.#wasLost = true;
    this.#store.lose();
  }

  #cancel(): void {
    // While approvals are open no batch listens to a signal: it is asked to go on, by one that has fired.
    if (this.#result?.approvals !== undefined) this.#execute({ signal: AbortSignal.abort() });
    else this.#abort.abort();
    this.#waiting.resolve("barrier", "done");
  }
}
