import {
  type GameAgentPerformanceSummary,
  type KernelEvent,
  type KernelEventKind,
  type KernelEventMap,
  recordJsonLines,
  type Telemetry,
} from "toolkernel";
import { EventStream } from "../../src/observe/event-stream.ts";

/** One thing that happens in a run: when, in which turn, what. */
export type Step = {
  [Kind in KernelEventKind]: readonly [
    timeMs: number,
    kind: Kind,
    fields: KernelEventMap[Kind],
    place?: { readonly turn?: number; readonly runId?: string },
  ];
}[KernelEventKind];

/** What a stream of events leaves behind, three times over. */
export interface RecordedRun {
  readonly events: readonly KernelEvent[];
  readonly lines: readonly string[];
  /** By run id, as the stream itself counted. */
  readonly performance: ReadonlyMap<string, GameAgentPerformanceSummary>;
}

/** Plays steps through real event streams, one per run, which share one recording. */
export function playSteps(steps: readonly Step[]): RecordedRun {
  const lines: string[] = [];
  return {
    ...playStepsInto(
      recordJsonLines((line) => lines.push(line)),
      steps,
    ),
    lines,
  };
}

/** The same, with a telemetry of the test's own. */
export function playStepsInto(telemetry: Telemetry, steps: readonly Step[]): Omit<RecordedRun, "lines"> {
  const events: KernelEvent[] = [];
  const streams = new Map<string, EventStream>();
  let nowMs = 0;
  const clock = { now: () => nowMs, setTimer: () => () => undefined };
  for (const [timeMs, kind, fields, { turn = 1, runId = "run" } = {}] of steps) {
    nowMs = timeMs;
    const stream = streams.get(runId) ?? new EventStream({ runId, clock, telemetry });
    if (!streams.has(runId)) {
      streams.set(runId, stream);
      const hub = stream.createHub();
      hub.subscribe((event) => {
        events.push(event);
      });
      stream.direct(hub);
    }
    stream.emit(kind, turn, fields);
  }
  return { events, performance: new Map([...streams].map(([runId, stream]) => [runId, stream.performance()])) };
}

/** What every event of the call at a place of its response carries. */
export function callAt(callIndex: number) {
  return { callId: `call-${callIndex}`, callIndex, toolName: "work", operationId: `op-${callIndex}` };
}

/** The dispatch of a call, after three waits; a write unless told otherwise. */
export function dispatched(
  callIndex: number,
  waits: { readonly barrierMs?: number; readonly keyMs?: number; readonly queueMs?: number; isWrite?: boolean } = {},
): KernelEventMap["toolDispatched"] {
  const { barrierMs = 0, keyMs = 0, queueMs = 0, isWrite = true } = waits;
  const waitedMs = barrierMs + keyMs + queueMs;
  return { ...callAt(callIndex), epoch: 0, isWrite, waitedMs, barrierMs, keyMs, queueMs };
}

/** The end of a call; it succeeded unless told otherwise. */
export function ended(
  callIndex: number,
  fields: Partial<Omit<KernelEventMap["toolEnded"], keyof ReturnType<typeof callAt>>> = {},
): KernelEventMap["toolEnded"] {
  const { outcomeUncertain = false } = fields;
  const result = { content: [], isError: false, outcomeUncertain, terminate: false };
  return { ...callAt(callIndex), outcome: "succeeded", isWrite: true, outcomeUncertain, result, ...fields };
}
