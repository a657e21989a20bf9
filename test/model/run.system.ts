/**
 * One run of a real Agent, led along a path of the run chart. The model, the hooks of the loop and the tool
 * wait for the path; what a turn is to come to is read ahead from the path, since it takes a tool, a
 * response or a limit of its own.
 */
import type { AnyTool, KernelEvent, Run, RunResult } from "toolkernel";
import { type SimulatedClock, simulatedClock } from "toolkernel/testing";
import type { ChartPath, Fact } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { ModelStore } from "./model-store.ts";
import { RUN_ID } from "./run.model.ts";
import { HOOK_TIMEOUT_MS, MODEL_TIMEOUT_MS, RunScript } from "./run.script.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { Waiting } from "./waiting.ts";

/** Sets up an Agent for each path; see the file header. */
export function openRun(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => {
    const system = new RunSystem(kernel, interpreter, path);
    await system.begin();
    return system;
  };
}

class RunSystem implements PathSystem {
  readonly #kernel: Kernel;
  readonly #path: ChartPath;
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #agent: InstanceType<Kernel["core"]["Agent"]>;
  readonly #waiting = new Waiting<"prepare" | "model" | "tool" | "stop">();
  readonly #script: RunScript;
  readonly #store: ModelStore;
  #run: Run | undefined;
  #events: KernelEvent[] = [];
  #result: RunResult | undefined;

  constructor(kernel: Kernel, interpreter: InterpreterName, path: ChartPath) {
    this.#kernel = kernel;
    this.#path = path;
    this.#store = new ModelStore(kernel);
    this.#script = new RunScript(path);
    this.#watch = watchCharts(kernel, interpreter);
    this.#agent = this.#createAgent(this.#clock);
  }

  /** Starts the run, or brings it to where it is resumed from. */
  async begin(): Promise<void> {
    if (this.#script.start === "RESUME") await this.#waitForApproval();
    else if (this.#script.start === "CLOSE_TURN") await this.#dieInTurn();
    else this.#follow(this.#agent.run("go", { runId: RUN_ID }));
  }

  /** Leads a run to its approvals, and answers them; where the path asks again, all but one. */
  async #waitForApproval(): Promise<void> {
    this.#follow(this.#agent.run("go", { runId: RUN_ID }));
    await this.#respond();
    const approvals = this.#result?.approvals ?? [];
    const isAskedAgain = this.#script.tells("APPROVALS_ASKED");
    const answered = (isAskedAgain ? approvals.slice(1) : approvals).map(({ approvalId }) => [approvalId, true]);
    // With a store any Agent can go on.
    const agent = this.#script.isRecorded ? this.#createAgent(this.#clock) : this.#agent;
    this.#follow(agent.resume(RUN_ID, { approvals: Object.fromEntries(answered) }));
  }

  /** Leads a run to the end of its batch, where its process dies; another goes on. */
  async #dieInTurn(): Promise<void> {
    const clock = simulatedClock();
    this.#follow(this.#createAgent(clock).run("go", { runId: RUN_ID }));
    await this.#respond();
    this.#waiting.resolve("tool", "done");
    await this.settle();
    this.#store.kill();
    this.#follow(this.#agent.resume(RUN_ID));
  }

  async #respond(): Promise<void> {
    await this.settle();
    this.#waiting.resolve("prepare", undefined);
    await this.settle();
    this.#waiting.resolve("model", this.#script.response(true));
    await this.settle();
  }

  #createAgent({ clock }: SimulatedClock): InstanceType<Kernel["core"]["Agent"]> {
    return new this.#kernel.core.Agent({
      model: { generate: () => this.#waiting.begin("model") },
      tools: this.#tools(),
      clock,
      limits: this.#script.limits(),
      jsonSchemaValidator: { compile: () => () => [] },
      hooks: {
        authorizeToolCall: () => (this.#script.asks ? { ask: { question: "may it?" } } : undefined),
        prepareNextTurn: () => this.#waiting.begin("prepare"),
        shouldStopAfterTurn: () => this.#waiting.begin("stop"),
      },
      ...(this.#script.isRecorded && { runStore: this.#store }),
      ...this.#watch.options,
    });
  }

  seen() {
    return this.#watch.seenOf(`run:${RUN_ID}`);
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  async stimulate(fact: Fact): Promise<void> {
    switch (fact.type) {
      case "READY":
        this.#waiting.resolve("prepare", undefined);
        break;
      case "RESPONDED":
        this.#waiting.resolve("model", this.#script.response(fact.hasCalls === true));
        break;
      case "MODEL_FAILED":
        if (fact.endedBy === "modelTimeout") await this.#clock.advance(MODEL_TIMEOUT_MS);
        else if (fact.endedBy === "modelError") this.#waiting.reject("model", new Error("the provider is down"));
        else this.#waiting.resolve("model", { content: "nonsense" });
        break;
      case "BATCH_SETTLED":
        this.#waiting.resolve("tool", "done");
        break;
      case "TURN_OVER":
        this.#script.endTurn();
        if (fact.hasSteering === true) this.#run?.steer("listen");
        if (fact.hasFollowUp === true) this.#run?.followUp("and then");
        this.#waiting.resolve("stop", fact.shouldStop);
        break;
      case "FAULTED":
        await this.#fault();
        break;
      case "CANCEL":
        this.#run?.abort("enough");
        break;
      default:
        throw new Error(`there is no stimulus for ${fact.type}`);
    }
  }

  async finish(): Promise<void> {
    this.#run?.abort("over");
    await this.settle();
    this.#waiting.resolveAll();
    await this.settle();
    const last = this.seen().at(-1);
    const context = last?.context as { readonly endedBy?: string } | undefined; // the run chart's own
    const [wanted, found] = [
      [valueName(last?.value), context?.endedBy],
      [this.#result?.status, this.#result?.endedBy],
    ].map((end) => end.join(" by "));
    if (wanted !== found) throw new Error(`RUN-4: the chart ends ${wanted}, the run's result says ${found}`);
    const ends = this.#events.filter(({ kind }) => kind === "runEnded").length;
    if (ends !== 1 || this.#events.at(-1)?.kind !== "runEnded") throw new Error(`RUN-4: runEnded came ${ends} times`);
    this.#holdTranscript();
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
  }

  /** Every tool call of the transcript has its one result, unless the run waits for approvals (RUN-5). */
  #holdTranscript(): void {
    const messages = this.#result?.messages ?? [];
    const asked = messages.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []))
        : [],
    );
    const answered = messages.flatMap((message) => (message.role === "toolResult" ? [message.callId] : []));
    const wanted = this.#result?.status === "awaitingApproval" ? answered : asked;
    if (wanted.join() !== answered.join()) throw new Error(`RUN-5: calls ${asked.join()}, results ${answered.join()}`);
  }

  #follow(run: Run): void {
    this.#run = run;
    this.#events = [];
    const events = this.#events;
    run.subscribe((event) => {
      events.push(event);
    });
    void run.result.then((result) => {
      this.#result = result;
    });
  }

  #tools(): AnyTool[] {
    const { defineTool, toolResult, GameActionTool, memoryJournal } = this.#kernel.core;
    const { GameActionDispatcher, GameActionReceipt } = this.#kernel.actions;
    const tool = defineTool({
      name: "tool",
      description: "The second call of a batch waits for the path.",
      inputSchema: { type: "object" },
      risk: "readOnly",
      execute: async (_args, { callIndex }) => {
        const terminate = this.#script.turn?.closedBy === "allTerminate";
        if (callIndex === 1) await this.#waiting.begin("tool");
        return toolResult({ value: "done", terminate });
      },
    });
    const { clock } = this.#clock;
    let handled = 0;
    const dispatcher = new GameActionDispatcher({
      journal: memoryJournal({ clock }),
      clock,
      handler: {
        execute: async (intent) => {
          handled += 1;
          if (handled === 2) await this.#waiting.begin("tool");
          return GameActionReceipt.committed(intent, "done");
        },
      },
    });
    const durable = GameActionTool.create({
      name: "durable",
      description: "Its receipts cannot be shown.",
      inputSchema: { type: "object" },
      dispatcher,
      executionMode: "parallel",
      input: () => ({ sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } }),
      modelReceiptProjector: () => {
        throw new Error("nothing to show");
      },
    });
    return [tool, durable as AnyTool];
  }

  async #fault(): Promise<void> {
    const hook = valueName(this.seen().at(-1)?.value) === "preparingTurn" ? "prepare" : "stop";
    const ways = this.#waiting.has(hook)
      ? [
          async () => this.#waiting.reject(hook, new Error("the hook broke")),
          async () => this.#waiting.resolve(hook, "nonsense"),
          () => this.#clock.advance(HOOK_TIMEOUT_MS),
        ]
      : [];
    if (this.#script.isRecorded) ways.push(async () => this.#loseStore());
    await ways[this.#path.variant % ways.length]?.();
  }

  #loseStore(): void {
    this.#store.lose();
    // Anything that is to be recorded now finds it out.
    this.#run?.steer("listen");
  }
}
