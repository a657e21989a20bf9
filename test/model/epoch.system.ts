/**
 * One epoch of the real kernel, led along a path of its chart: a batch of reads, of which two may run at
 * once. Where the path frees a lane, another session of the same lanes holds the last call's key until then.
 */
import type { ToolSession } from "toolkernel";
import { epochMachine } from "toolkernel/machines";
import { simulatedClock } from "toolkernel/testing";
import type { ChartModel, ChartPath, Fact, PathStep } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import { type InterpreterName, watchCharts } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { ModelStore } from "./model-store.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { endsSoon } from "./waiting.ts";

const CAP = 2;

interface Memory {
  readonly isFreed: boolean;
}

/** The chart of an epoch, for one to four calls. */
export const EPOCH_MODELS: readonly ChartModel<Memory>[] = [1, 2, 3, 4].map((calls) => ({
  name: `${calls} calls`,
  machine: epochMachine,
  input: { epoch: 0, calls },
  facts: epochMachine.events.filter((type) => !type.startsWith("xstate.")).map((type) => ({ type })),
  memory: { isFreed: false },
  allows: ({ chart, memory }, { type }) => {
    if (type === "LANE_FREED") return !memory.isFreed;
    // Once halted, calls that wait settle at once: nothing can come before that.
    const { open } = chart.context as { readonly open: number };
    return type !== "CANCEL" || chart.value !== "halting" || open <= CAP;
  },
  remember: ({ memory }, { type }) => ({ isFreed: memory.isFreed || type === "LANE_FREED" }),
}));

/** Sets up a session for each path; see the file header. */
export function openEpoch(kernel: Kernel, interpreter: InterpreterName): OpenSystem {
  return async (path) => new EpochSystem(kernel, interpreter, path);
}

class EpochSystem implements PathSystem {
  readonly #clock = simulatedClock();
  readonly #watch: ReturnType<typeof watchCharts>;
  readonly #abort = new AbortController();
  readonly #store: ModelStore;
  readonly #session: ToolSession;
  readonly #running: (() => void)[] = [];
  readonly #dispatched: string[] = [];
  readonly #ended: string[] = [];
  readonly #calls: number;
  readonly #releaseForeign: () => void;
  readonly #finished: Promise<unknown>;
  #isForeignHeld: boolean;
  #wasStopped = false;

  constructor(kernel: Kernel, interpreter: InterpreterName, { model, steps }: ChartPath) {
    const { createLanes, createToolSession, defineTool } = kernel.core;
    this.#store = new ModelStore(kernel);
    this.#calls = (model.input as { readonly calls: number }).calls;
    this.#isForeignHeld = steps.some(({ fact }) => fact.type === "LANE_FREED");
    this.#watch = watchCharts(kernel, interpreter);
    const lanes = createLanes();
    const read = (wait: () => Promise<unknown>) =>
      defineTool({
        name: "read",
        description: "Reads.",
        inputSchema: { type: "object" },
        risk: "readOnly",
        trackExactRepeats: false,
        conflictKey: (args) => args.key as string,
        execute: wait,
      });
    const common = { clock: this.#clock.clock, lanes, jsonSchemaValidator: { compile: () => () => [] } };
    let releaseForeign = (): void => undefined;
    const foreign = createToolSession({
      ...common,
      tools: [read(() => new Promise<void>((resolve) => (releaseForeign = resolve)))],
    });
    this.#releaseForeign = () => releaseForeign();
    const isRecorded = steps.some(({ fact }) => fact.type === "HALT");
    this.#session = createToolSession({
      ...common,
      ...this.#watch.options,
      ...(isRecorded && { runStore: this.#store }),
      runId: "run",
      limits: { maxConcurrentTools: CAP },
      tools: [read(() => new Promise<void>((resolve) => this.#running.push(resolve)))],
    });
    const callOf = (id: string) => ({ id, name: "read", arguments: { key: id } });
    const last = `call${this.#calls - 1}`;
    const other = this.#isForeignHeld ? foreign.execute([callOf(last)], { turn: 9 }).result : Promise.resolve();
    // Behind the other session in the line of microtasks, and so behind it in the lane.
    const batch = this.#session.execute(
      Array.from({ length: this.#calls }, (_none, place) => callOf(`call${place}`)),
      { signal: this.#abort.signal },
    );
    batch.subscribe((event) => {
      if (event.kind === "toolDispatched") this.#dispatched.push(event.callId);
      if (event.kind === "toolEnded") this.#ended.push(event.callId);
    });
    // Where the store was lost there is no result; what is true has been told by events.
    const ended = Promise.all([other, isRecorded ? batch.result.catch(() => undefined) : batch.result]);
    this.#finished = ended.then(() => Promise.all([foreign.close(), this.#session.close()]));
  }

  seen() {
    return this.#watch.seenOf("epoch:1:0");
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  stimulate({ type }: Fact): void {
    switch (type) {
      case "CALL_SETTLED":
        this.#running.shift()?.();
        break;
      case "LANE_FREED":
        this.#isForeignHeld = false;
        this.#releaseForeign();
        break;
      case "HALT":
        this.#wasStopped = true;
        this.#store.lose();
        // Anything that is to be recorded now finds it out.
        this.#session.noteNewEvidence();
        break;
      case "CANCEL":
        this.#wasStopped = true;
        this.#abort.abort();
        break;
      default:
        throw new Error(`there is no stimulus for ${type}`);
    }
  }

  observe({ chart }: PathStep): void {
    const { open } = chart.context as { readonly open: number };
    const running = this.#dispatched.length - this.#ended.filter((id) => this.#dispatched.includes(id)).length;
    const startable = this.#isForeignHeld ? open - 1 : open;
    if (valueName(chart.value) === "running" && running !== Math.min(CAP, startable))
      throw new Error(`EPOCH-3, EPOCH-5: ${running} calls run, of ${startable} that could, two at once`);
    if (running > CAP) throw new Error(`EPOCH-3: ${running} calls run`);
    if (this.#wasStopped && this.#running.length !== running) throw new Error("CAN-1: a call was started");
  }

  async finish(): Promise<void> {
    this.#abort.abort();
    this.#releaseForeign();
    await this.settle();
    for (let round = 0; round < this.#calls; round += 1) {
      this.#running.shift()?.();
      await this.settle();
    }
    await endsSoon(this.#finished, () => this.settle());
    if (new Set(this.#ended).size !== this.#calls || this.#ended.length !== this.#calls)
      throw new Error(`CAN-4: ended are ${this.#ended.join(", ")}`);
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
  }
}
