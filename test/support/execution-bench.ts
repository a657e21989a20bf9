import {
  type Batch,
  type BatchResult,
  type Clock,
  createToolSession,
  type ExecuteOptions,
  type GivenCall,
  type KernelEvent,
  type ToolSession,
  type ToolSessionOptions,
} from "toolkernel";
import {
  type ControllableTool,
  type ControllableToolOptions,
  type ControlledCall,
  controllableTool,
  type SimulatedClock,
} from "toolkernel/testing";
import { trackedClock } from "./tracked.ts";

/** A session whose time and tools a test moves by hand. */
export interface Bench {
  readonly session: ToolSession;
  readonly clock: Clock;
  /** Moves time on; 0 lets promises alone do their work. */
  advance(ms?: number): Promise<void>;
  /** Starts a batch and lets promises do their work, so that what can run runs. */
  start(calls: readonly GivenCall[], options?: ExecuteOptions): Promise<Running>;
  /** How many timers wait on the clock. */
  pendingTimers(): number;
}

/** A batch under way. */
export interface Running {
  readonly batch: Batch;
  /** Every event so far. */
  readonly events: readonly KernelEvent[];
  readonly result: Promise<BatchResult>;
  /** The story so far as lines, one per event of execution; see {@link logOf}. */
  log(): string[];
  /** The lines since this was last asked. */
  news(): string[];
}

/** Opens a {@link Bench}; it must be left without timers and actors. */
export function openBench({ simulated = trackedClock(), ...options }: BenchOptions): Bench {
  const session = createToolSession({ runId: "run", clock: simulated.clock, ...options });
  const advance = (ms = 0): Promise<void> => simulated.advance(ms);
  return {
    session,
    clock: simulated.clock,
    advance,
    pendingTimers: () => simulated.pendingTimers(),
    async start(calls, executeOptions) {
      const running = follow(session.execute(calls, executeOptions));
      await advance();
      return running;
    },
  };
}

/** What a bench is opened with: a session's options, and a clock to share with another bench. */
export type BenchOptions = ToolSessionOptions & { readonly simulated?: SimulatedClock };

/** Watches a batch without a hand in it. */
export function follow(batch: Batch): Running {
  const events: KernelEvent[] = [];
  batch.subscribe((event) => {
    events.push(event);
  });
  let told = 0;
  return {
    batch,
    events,
    result: batch.result,
    log: () => logOf(events),
    news() {
      const lines = logOf(events.slice(told));
      told = events.length;
      return lines;
    },
  };
}

/** The events of execution as lines, in order: `a starts`, `a ends succeeded`, `epoch 0: a b`, `epoch 0 over`. */
export function logOf(events: readonly KernelEvent[]): string[] {
  return events.flatMap((event) => lineOf(event) ?? []);
}

/** What is told of one event; undefined for what concerns preparation. */
function lineOf(event: KernelEvent): string | undefined {
  switch (event.kind) {
    case "epochStarted":
      return `epoch ${event.epoch}: ${event.callIds.join(" ")}`;
    case "epochSettled":
      return `epoch ${event.epoch} over`;
    case "toolDispatched":
      return `${event.callId} starts`;
    case "toolBlocked":
      return `${event.callId} blocked by ${event.blockedBy}`;
    case "toolProgressed":
      return `${event.callId} says ${JSON.stringify(event.update)}`;
    case "toolEnded":
      return `${event.callId} ends ${event.outcome}`;
    case "toolLateSettled":
      return `${event.callId} ${event.returned ? "returns" : "throws"} late`;
    case "toolUncertaintyResolved":
      return `${event.callId} resolved ${event.status}`;
    default:
      return undefined;
  }
}

/** Ids of the calls that are dispatched and have not ended, in order of dispatch. */
export function runningIn(events: readonly KernelEvent[]): string[] {
  const running = new Set<string>();
  for (const event of events) {
    if (event.kind === "toolDispatched") running.add(event.callId);
    if (event.kind === "toolEnded") running.delete(event.callId);
  }
  return [...running];
}

/** The most calls that ran at once, by the events. */
export function peakOf(events: readonly KernelEvent[]): number {
  return events.reduce((peak, _event, place) => Math.max(peak, runningIn(events.slice(0, place + 1)).length), 0);
}

/** A tool whose conflict keys are its argument `keys`, a text or a list. */
export function keyedTool<const Name extends string>(options: ControllableToolOptions<Name>): ControllableTool<Name> {
  return controllableTool({
    conflictKey: ({ keys }) => keys as string | readonly string[] | undefined,
    ...options,
  });
}

/**
 * The newest call of a tool at a place of its response (abandoned ones of earlier batches stay listed); a
 * test that asks for one that does not run is wrong.
 */
export function runningCall(tool: ControllableTool, callIndex: number): ControlledCall {
  const found = tool.pending.findLast((call) => call.callIndex === callIndex);
  if (found === undefined) throw new Error(`call ${callIndex} of ${tool.name} does not run`);
  return found;
}

/** The tool's calls that run, by their places, in order of dispatch. */
export function placesOf(tool: ControllableTool): number[] {
  return tool.pending.map(({ callIndex }) => callIndex);
}
