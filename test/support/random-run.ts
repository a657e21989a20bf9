/** Random runs, played: the world, the model and the host of a plan. For properties. */
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
import type { CallPlan, Deed, HookPlan, RunPlan, TurnPlan } from "./random-plans.ts";

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
