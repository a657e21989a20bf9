/**
 * One tool call that an earlier process has dispatched, in the process that goes on (RUN-6).
 *
 * The call in question is the second of two. The first, a read in an epoch of its own that is run again, keeps
 * it at the barrier; a session that shares the lanes holds its conflict key.
 */
import type { BatchResult, RunFact, RunStore, ToolSession } from "toolkernel";
import { toolCallMachine } from "toolkernel/machines";
import { simulatedClock } from "toolkernel/testing";
import type { ChartModel, ChartPath, Fact } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { Waiting } from "./waiting.ts";

const PLACE = 1;
const GRACE_MS = 1_000;
const CALLS = [
  { id: "barrier", name: "barrier", arguments: "{}" },
  { id: "subject", name: "subject", arguments: "{}" },
] as const;

const PREPARED = { kind: "prepared", arguments: {}, draft: {}, repairs: [] } as const;

/** What an earlier process has left of the run: both calls planned and dispatched, neither settled. */
const FACTS_LEFT: readonly RunFact[] = [
  { kind: "begun", earlier: [] },
  { kind: "response", turn: 1, calls: CALLS, hasDuplicateIds: false, stopReason: "toolUse", totalTokens: 0 },
  {
    kind: "prepared",
    turn: 1,
    calls: [
      { ...PREPARED, index: 0, conflictKeys: [] },
      { ...PREPARED, index: 1, conflictKeys: ["k"] },
    ],
  },
  { kind: "planned", turn: 1, epochs: [[0], [1]] },
  { kind: "dispatched", turn: 1, index: 0, atMs: 1 },
  { kind: "dispatched", turn: 1, index: 1, atMs: 2 },
];

/** What is told to a call by what stands in the store, without anybody being asked. */
const RESTORED = ["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED", "ALLOWED", "PLANNED"];
const WAITING = ["authorized", "barrierWaiting", "laneWaiting"];

/** A write that nobody may call again, and a read that runs again. */
export const RESUMED_CALL_MODELS: readonly ChartModel[] = [true, false].map(
  (isWrite): ChartModel => ({
    name: `${isWrite ? "write" : "read"} that an earlier process has dispatched`,
    machine: toolCallMachine,
    input: {
      callId: "subject",
      isWrite,
      throwIsUncertain: true,
      canRecover: false,
      isRecorded: true,
      wasDispatched: true,
    },
    facts: [...RESTORED, "EPOCH_STARTED", "ADMITTED", isWrite ? "LOST" : "SUCCEEDED", "CANCEL", "FINISHED"].map(
      (type) => ({ type }),
    ),
    memory: {},
    allows: ({ chart }, { type }) => type !== "CANCEL" || WAITING.includes(valueName(chart.value)),
  }),
);

/** Sets up a session over what an earlier process left, for each path. */
export function openResumedCall(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => {
    const store = kernel.core.memoryRunStore();
    const claim = await store.claim("run", { create: true });
    await claim.append(FACTS_LEFT);
    await claim.release();
    return new ResumedCallSystem(kernel, { path, store, interpreter });
  };
}

interface ResumedPath {
  readonly path: ChartPath;
  readonly store: RunStore;
  readonly interpreter: InterpreterName;
}

class ResumedCallSystem implements PathSystem {
  readonly #path: ChartPath;
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #waiting = new Waiting<"barrier" | "foreign" | "answer" | "shaping">();
  readonly #abort = new AbortController();
  readonly #sessions: readonly ToolSession[];
  #runs = 0;
  #result: BatchResult | undefined;

  constructor(kernel: Kernel, { path, store, interpreter }: ResumedPath) {
    this.#path = path;
    this.#watch = watchCharts(kernel, interpreter);
    const { createToolSession, createLanes, defineTool } = kernel.core;
    const common = { clock: this.#clock.clock, lanes: createLanes() };
    const tool = { inputSchema: { type: "object" }, conflictKey: () => "k" };
    const foreignTool = defineTool({
      ...tool,
      name: "foreign",
      description: "",
      execute: () => this.#waiting.begin("foreign"),
    });
    const foreign = createToolSession({ ...common, tools: [foreignTool] });
    void foreign.execute([{ name: "foreign" }]);
    const { isWrite } = path.model.input as { readonly isWrite: boolean }; // the models above are given no other
    const execute = (): Promise<never> => {
      this.#runs += 1;
      return this.#waiting.begin("answer");
    };
    const session = createToolSession({
      ...common,
      runId: "run",
      runStore: store,
      limits: { cancellationGraceMs: GRACE_MS },
      tools: [
        defineTool({
          name: "barrier",
          description: "",
          inputSchema: {},
          risk: "readOnly",
          execute: () => this.#waiting.begin("barrier"),
        }),
        defineTool({
          ...tool,
          name: "subject",
          description: "",
          ...(!isWrite && { risk: "readOnly" as const }),
          execute,
        }),
      ],
      hooks: { afterToolCall: ({ call }) => (call.id === "subject" ? this.#waiting.begin("shaping") : undefined) },
      ...this.#watch.options,
    });
    this.#sessions = [session, foreign];
    if (this.#cancelsIn("authorized")) this.#abort.abort();
    void session.execute(CALLS, { turn: 1, signal: this.#abort.signal }).result.then((result) => {
      this.#result = result;
    });
  }

  seen() {
    return this.#watch.seenOf(`call:1:${PLACE}`);
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  stimulate({ type }: Fact): void {
    switch (type) {
      case "EPOCH_STARTED":
        this.#waiting.resolve("barrier", "done");
        break;
      case "ADMITTED":
        this.#waiting.resolve("foreign", "done");
        break;
      case "SUCCEEDED":
        this.#waiting.resolve("answer", "done");
        break;
      case "CANCEL":
        this.#abort.abort();
        // At the barrier it is told once the epoch before has settled.
        this.#waiting.resolve("barrier", "done");
        break;
      case "FINISHED":
        this.#waiting.resolve("shaping", undefined);
        break;
      default:
        throw new Error(`there is no stimulus for ${type}`);
    }
  }

  /** A write that was dispatched is uncertain, whatever came then, and was not called; a read was called at most once. */
  async finish(): Promise<void> {
    this.#abort.abort();
    for (let round = 0; round < 3; round += 1) {
      await this.#clock.advance(GRACE_MS);
      this.#waiting.resolveAll();
    }
    for (const session of this.#sessions) await session.close();
    const { isWrite } = this.#path.model.input as { readonly isWrite: boolean };
    const outcome = this.#result?.settled[PLACE]?.outcome;
    if (isWrite && (outcome !== "uncertain" || this.#runs > 0))
      throw new Error(`RUN-6: a write that may have happened is ${outcome} and was called ${this.#runs} times`);
    if (this.#runs > 1) throw new Error("RUN-6: the call was called more than once");
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
  }

  #cancelsIn(state: string): boolean {
    return this.#path.steps.some(({ fact, chart }, place) => {
      const before = this.#path.steps[place - 1]?.chart ?? chart;
      return fact.type === "CANCEL" && valueName(before.value) === state;
    });
  }
}
