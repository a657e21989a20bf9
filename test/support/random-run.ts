/**
 * Random runs: scripts of a model, outcomes of tools, hooks, and disturbances at any event. For properties.
 */
import fc from "fast-check";
import {
  type AgentHooks,
  type AssistantPart,
  defineTool,
  type JsonObject,
  type KernelEvent,
  type ModelProvider,
  type ModelResponse,
  type Run,
  ToolError,
  toolResult,
} from "toolkernel";

/** What a tool does when it is called; it stands in its arguments. */
type Deed = "answers" | "fails" | "throws" | "terminates" | "waits" | "hangs" | "answersSignal" | "aborts" | "steers";

interface CallPlan {
  readonly tool: "read" | "write" | "keyed" | "asking" | "nope";
  readonly id: string;
  readonly deed: Deed;
  readonly isBroken: boolean;
}

/** One turn of the model. */
type TurnPlan =
  | { readonly kind: "calls"; readonly calls: readonly CallPlan[]; readonly stopReason: ModelResponse["stopReason"] }
  | { readonly kind: "says" | "isEmpty" | "throws" | "hangs" | "talksNonsense" | "waits" };

/** Something that a listener does when it hears of the event of a number. */
interface Disturbance {
  readonly seq: number;
  readonly what: "abort" | "steer" | "followUp";
}

/** How open approvals are answered: one entry a round. */
type AnswerPlan = "grant" | "block" | "grantFirst" | "nothing" | "blockOthers" | "message" | "abort";

/** A whole run. */
export interface RunPlan {
  readonly turns: readonly TurnPlan[];
  readonly disturbances: readonly Disturbance[];
  readonly answers: readonly AnswerPlan[];
  readonly hooks: { readonly prepare: HookPlan; readonly stop: HookPlan };
  readonly limits: JsonObject;
  readonly interpreter: "compiled" | "xstate";
  readonly toolExecution: "sequential" | "safeParallel" | "parallel";
}

/** What a hook of the loop does, and from which turn on. */
interface HookPlan {
  readonly from: number;
  readonly does: "nothing" | "waits" | "throws" | "hangs" | "stops";
}

const deed = fc.constantFrom<Deed>(
  ...(["answers", "answers", "answers", "fails", "throws", "terminates", "waits"] as const),
  ...(["hangs", "answersSignal", "aborts", "steers"] as const),
);
const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  tool: fc.constantFrom("read", "read", "write", "keyed", "asking", "nope"),
  id: fc.constantFrom("", "a", "b", "call_1_0", "undefined"),
  deed,
  isBroken: fc.integer({ min: 0, max: 7 }).map((drawn) => drawn === 0),
});
const turnPlan: fc.Arbitrary<TurnPlan> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("calls" as const),
      calls: fc.array(callPlan, { minLength: 1, maxLength: 4 }),
      stopReason: fc.constantFrom(
        ...(["toolUse", "toolUse", "toolUse", "stop", "length", "error", "aborted"] as const),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(["says", "says", "waits", "isEmpty", "throws", "hangs", "talksNonsense"] as const)),
    }),
  },
);
const hookPlan: fc.Arbitrary<HookPlan> = fc.record({
  from: fc.integer({ min: 1, max: 5 }),
  does: fc.constantFrom(...(["nothing", "nothing", "nothing", "waits", "throws", "hangs", "stops"] as const)),
});

/** Any run. */
export const runPlans: fc.Arbitrary<RunPlan> = fc.record({
  turns: fc.array(turnPlan, { minLength: 1, maxLength: 6 }),
  disturbances: fc.array(
    fc.record({ seq: fc.nat({ max: 70 }), what: fc.constantFrom("abort", "steer", "steer", "followUp") }),
    { maxLength: 4 },
  ),
  answers: fc.array(fc.constantFrom("grant", "block", "grantFirst", "nothing", "blockOthers", "message", "abort"), {
    maxLength: 4,
  }),
  hooks: fc.record({ prepare: hookPlan, stop: hookPlan }),
  limits: fc.record({
    maxTurns: fc.integer({ min: 1, max: 6 }),
    maxToolCalls: fc.integer({ min: 1, max: 12 }),
    maxToolCallsPerTurn: fc.integer({ min: 2, max: 4 }),
    maxQueuedMessages: fc.integer({ min: 1, max: 2 }),
    maxConcurrentTools: fc.integer({ min: 1, max: 3 }),
    exactToolRepeatAdvisoryThreshold: fc.constantFrom(0, 2),
    exactToolRepeatTerminationThreshold: fc.constantFrom(0, 3),
    toolTimeoutMs: fc.constant(50),
    modelTimeoutMs: fc.constant(50),
    hookTimeoutMs: fc.constant(50),
    cancellationGraceMs: fc.constant(10),
    abandonAfterMs: fc.constant(30),
  }),
  interpreter: fc.constantFrom("compiled", "xstate"),
  toolExecution: fc.constantFrom("sequential", "safeParallel", "parallel"),
});

/** The world that a random run acts in: what waits, and how often tools were called. */
export class RandomWorld {
  readonly plan: RunPlan;
  /** Texts that were accepted, in order, by queue. */
  readonly accepted: string[] = [];
  /** Ids of the calls whose executor was called. */
  readonly called: string[] = [];
  /** The number of the last event when the run was first aborted; the run must then start nothing more. */
  abortedAtSeq: number | undefined;
  lastSeq = -1;
  run: Run | undefined;
  #waiting: (() => void)[] = [];
  #said = 0;

  constructor(plan: RunPlan) {
    this.plan = plan;
  }

  /** Lets everything that only waits go on. */
  goOn(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  abort(): void {
    this.abortedAtSeq ??= this.lastSeq;
    this.run?.abort("enough");
  }

  say(how: "steer" | "followUp"): void {
    this.#said += 1;
    const text = `${how} ${this.#said}`;
    // Noted first: whoever hears that it is queued may say something in turn.
    this.accepted.push(text);
    if (this.run?.[how](text).accepted !== true) this.accepted.splice(this.accepted.indexOf(text), 1);
  }

  /** Hears of an event, and disturbs the run where the plan says so. */
  hear(event: KernelEvent): void {
    this.lastSeq = event.seq;
    for (const { seq, what } of this.plan.disturbances) {
      if (seq !== event.seq) continue;
      // At its last event a run has ended, if only for this process: an abort is too late.
      if (what === "abort" && event.kind === "runEnded") this.run?.abort("too late");
      else if (what === "abort") this.abort();
      else this.say(what);
    }
  }

  /** The model of the plan; past its end it says a last word. */
  model(onRequest: ModelProvider["generate"]): ModelProvider {
    return {
      generate: async (request, context) => {
        void onRequest(request, context);
        const turn = this.plan.turns[request.turn - 1] ?? { kind: "says" };
        context.emit({ type: "text", text: "…" });
        return this.#answer(turn, request.turn);
      },
    };
  }

  tools() {
    const make = (name: string, options: object) =>
      defineTool({
        name,
        description: `The tool ${name}.`,
        inputSchema: { type: "object" } as JsonObject,
        ...options,
        execute: (args: JsonObject, { callId, signal }) => {
          this.called.push(callId);
          return this.#act(args.deed as Deed, signal);
        },
      });
    return [
      make("read", { risk: "readOnly" }),
      make("write", {}),
      make("keyed", { executionMode: "parallel", conflictKey: () => "k" }),
      make("asking", { executionMode: "parallel", conflictKey: () => "a" }),
    ];
  }

  hooks(): AgentHooks {
    const { prepare, stop } = this.plan.hooks;
    return {
      authorizeToolCall: ({ tool }) => (tool.name === "asking" ? { ask: {} } : undefined),
      prepareNextTurn: ({ turn }) => (turn < prepare.from ? undefined : this.#hook(prepare.does, undefined)),
      shouldStopAfterTurn: ({ turn }) => (turn < stop.from ? false : this.#hook(stop.does, stop.does === "stops")),
    };
  }

  #hook<Answer>(does: HookPlan["does"], answer: Answer): Answer | Promise<Answer> {
    if (does === "throws") throw new Error("the hook throws");
    if (does === "hangs") return new Promise(() => undefined);
    return does === "waits" ? this.#wait(answer) : answer;
  }

  #wait<Answer>(answer: Answer): Promise<Answer> {
    return new Promise((resolve) => this.#waiting.push(() => resolve(answer)));
  }

  #answer(turn: TurnPlan, number: number): ModelResponse | Promise<ModelResponse> {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const word: ModelResponse = { content: [{ type: "text", text: `turn ${number}` }], stopReason: "stop", usage };
    switch (turn.kind) {
      case "says":
        return word;
      case "waits":
        return this.#wait(word);
      case "isEmpty":
        return { content: [], stopReason: "stop" };
      case "throws":
        throw new Error("the model throws");
      case "hangs":
        return new Promise(() => undefined);
      case "talksNonsense":
        return { content: [{ type: "video" }], stopReason: "stop" } as never;
      case "calls":
        return { content: turn.calls.map(toPart), stopReason: turn.stopReason, usage };
    }
  }

  #act(does: Deed, signal: AbortSignal): unknown {
    switch (does) {
      case "answers":
        return "ok";
      case "fails":
        throw new ToolError("it failed");
      case "throws":
        throw new Error("who knows");
      case "terminates":
        return toolResult({ value: "last", terminate: true });
      case "waits":
        return this.#wait("ok");
      case "hangs":
        return new Promise(() => undefined);
      case "answersSignal":
        return new Promise((resolve) => {
          if (signal.aborted) resolve("stopped");
          signal.addEventListener("abort", () => resolve("stopped"), { once: true });
        });
      case "aborts":
        this.abort();
        return "aborted";
      case "steers":
        this.say("steer");
        return "steered";
    }
  }
}

function toPart({ tool, id, deed: does, isBroken }: CallPlan): AssistantPart {
  return { type: "toolCall", id, name: tool, arguments: isBroken ? "{" : JSON.stringify({ deed: does }) };
}
