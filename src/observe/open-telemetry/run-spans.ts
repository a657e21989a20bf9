/**
 * The open spans of one run.
 * Owns: its spans from their start to their end. Does not own: the run. Invariants: a span ends after all
 * that it holds; every span ends when its run does, or its batch where nobody says that a run ends; a trace
 * record is an event of the innermost span that it belongs to (OBS-3).
 */
import type { TraceRecord } from "../../domain/ports.ts";
import { readTrace } from "../read-trace.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import type {
  OpenTelemetryApi,
  OpenTelemetryAttributes,
  OpenTelemetrySpan,
  OpenTelemetryTracer,
} from "./open-telemetry-shapes.ts";
import { callAttributes, eventAttributes, spanAttributes, spanTime } from "./span-attributes.ts";

/** What the spans of a run are made with. */
export interface RunSpansOptions {
  readonly api: OpenTelemetryApi;
  readonly tracer: OpenTelemetryTracer;
  readonly runId: string;
  /** Told when no span is open any more. */
  readonly onIdle: () => void;
}

interface OpenSpan {
  readonly span: OpenTelemetrySpan;
  readonly context: unknown;
}

const STATUS_ERROR = 2;
/** So many of them that they would crowd out all others. */
const LEFT_OUT: ReadonlySet<string> = new Set(["kernel.messageupdated", "kernel.toolprogressed"]);

/** See the file header. */
export class RunSpans {
  readonly #options: RunSpansOptions;
  #run: OpenSpan | undefined;
  #turn: OpenSpan | undefined;
  #batch: (OpenSpan & { readonly turn: number }) | undefined;
  #epoch: OpenSpan | undefined;
  /** Spans of calls that run, by call index; calls without a result, by the same. */
  readonly #calls = new Map<number, OpenSpan>();
  readonly #openCalls = new Set<number>();
  /** When the last call and the epoch of the batch ended, if they have. */
  #batchEndedAtMs: number | undefined;
  #lastMs = 0;

  constructor(options: RunSpansOptions) {
    this.#options = options;
  }

  /** Takes a trace record of the run; records come in order. */
  record(traceRecord: TraceRecord): void {
    if (LEFT_OUT.has(traceRecord.name)) return;
    const event = readTrace(traceRecord);
    this.#lastMs = traceRecord.timeMs;
    if (event === undefined || "fault" in event) {
      this.#addEvent(undefined, traceRecord);
    } else {
      this.#openFor(event, traceRecord);
      this.#addEvent(event, traceRecord);
      this.#closeAfter(event, traceRecord);
    }
    if (this.#isIdle) this.#options.onIdle();
  }

  get #isIdle(): boolean {
    return (this.#run ?? this.#turn ?? this.#batch) === undefined;
  }

  get #innermost(): OpenSpan | undefined {
    return this.#epoch ?? this.#batch ?? this.#turn ?? this.#run;
  }

  #openFor(event: RecordedEvent, traceRecord: TraceRecord): void {
    switch (event.kind) {
      case "runStarted":
      case "runResumed": {
        const attributes = { "gen_ai.operation.name": "invoke_agent", "kernel.run_id": traceRecord.runId };
        this.#run ??= this.#open("invoke_agent", attributes);
        break;
      }
      case "turnStarted":
        this.#endTurn();
        this.#turn = this.#open("kernel.turn", spanAttributes(traceRecord));
        break;
      case "toolStarted":
      case "toolRefused":
        this.#enterBatch(event);
        break;
      case "epochStarted":
        this.#openBatch(event.turn);
        this.#epoch = this.#open("kernel.epoch", spanAttributes(traceRecord));
        break;
      case "toolDispatched":
      case "toolEnded":
        this.#enterBatch(event);
        if (!this.#calls.has(event.callIndex)) this.#openCall(event, traceRecord);
        break;
      case "turnEnded":
        this.#endBatch();
        break;
      case "runEnded":
        this.#endTurn();
        break;
      default:
    }
  }

  #closeAfter(event: RecordedEvent, traceRecord: TraceRecord): void {
    switch (event.kind) {
      case "toolEnded":
        this.#endCall(event, traceRecord);
        break;
      case "epochSettled":
        this.#endEpoch();
        this.#endBatchSoon();
        break;
      case "turnEnded":
        this.#turn?.span.setAttributes(spanAttributes(traceRecord));
        this.#endTurn();
        break;
      case "runEnded":
        this.#endRun(event, traceRecord);
        break;
      default:
    }
  }

  #addEvent(event: RecordedEvent | undefined, traceRecord: TraceRecord): void {
    const place = this.#callOf(event) ?? this.#innermost;
    const { name } = traceRecord;
    if (place !== undefined) place.span.addEvent(name, eventAttributes(traceRecord), spanTime(this.#lastMs));
    // What happens between batches (a late return, a resolution) has a span of its own, without length.
    else this.#open(name, eventAttributes(traceRecord)).span.end(spanTime(this.#lastMs));
  }

  /** The span of the call an event is about; a call of an earlier batch, which came back late, has none. */
  #callOf(event: RecordedEvent | undefined): OpenSpan | undefined {
    if (event === undefined || !("callIndex" in event) || event.turn !== this.#batch?.turn) return undefined;
    return this.#calls.get(event.callIndex);
  }

  #open(name: string, attributes: OpenTelemetryAttributes): OpenSpan {
    const { api, tracer } = this.#options;
    const parent = this.#innermost?.context ?? api.context.active();
    const span = tracer.startSpan(name, { kind: 0, startTime: spanTime(this.#lastMs), attributes }, parent);
    return { span, context: api.trace.setSpan(parent, span) };
  }

  #enterBatch({
    turn,
    callIndex,
  }: RecordedEvent<"toolStarted" | "toolRefused" | "toolDispatched" | "toolEnded">): void {
    this.#openBatch(turn);
    this.#openCalls.add(callIndex);
  }

  #openBatch(turn: number): void {
    if (this.#batch?.turn !== turn) {
      this.#endBatch();
      const attributes = { "kernel.run_id": this.#options.runId, "kernel.turn": turn };
      this.#batch = { ...this.#open("kernel.batch", attributes), turn };
    }
    this.#batchEndedAtMs = undefined;
  }

  #openCall(event: RecordedEvent<"toolDispatched" | "toolEnded">, traceRecord: TraceRecord): void {
    const call = this.#open(`execute_tool ${event.toolName}`, callAttributes(event, traceRecord));
    this.#calls.set(event.callIndex, call);
  }

  #endCall(event: RecordedEvent<"toolEnded">, traceRecord: TraceRecord): void {
    const span = this.#calls.get(event.callIndex)?.span;
    this.#calls.delete(event.callIndex);
    this.#openCalls.delete(event.callIndex);
    span?.setAttributes(spanAttributes(traceRecord));
    if (event.outcome !== "succeeded") setError(span, event.failureCategory ?? event.outcome);
    span?.end(spanTime(this.#lastMs));
    this.#endBatchSoon();
  }

  /**
   * No record says that a batch has ended. It has when all its calls and its epoch have; but calls that are
   * cancelled before they were started end one by one, without having been announced, so this looks once more.
   */
  #endBatchSoon(): void {
    const batch = this.#batch;
    if (batch === undefined || this.#openCalls.size > 0 || this.#epoch !== undefined) return;
    this.#batchEndedAtMs = this.#lastMs;
    queueMicrotask(() => {
      if (this.#batch !== batch || this.#batchEndedAtMs === undefined) return;
      this.#endBatch();
      if (this.#isIdle) this.#options.onIdle();
    });
  }

  #endEpoch(): void {
    this.#epoch?.span.end(spanTime(this.#lastMs));
    this.#epoch = undefined;
  }

  /** Ends a batch and all in it; calls are open then only if the process that ran them has ended. */
  #endBatch(): void {
    for (const { span } of this.#calls.values()) span.end(spanTime(this.#lastMs));
    this.#calls.clear();
    this.#openCalls.clear();
    this.#endEpoch();
    this.#batch?.span.end(spanTime(this.#batchEndedAtMs ?? this.#lastMs));
    this.#batch = undefined;
    this.#batchEndedAtMs = undefined;
  }

  #endTurn(): void {
    this.#endBatch();
    this.#turn?.span.end(spanTime(this.#lastMs));
    this.#turn = undefined;
  }

  #endRun({ status, endedBy }: RecordedEvent<"runEnded">, traceRecord: TraceRecord): void {
    const span = this.#run?.span;
    span?.setAttributes(spanAttributes(traceRecord));
    if (status === "providerError" || status === "kernelError") setError(span, endedBy ?? status);
    span?.end(spanTime(this.#lastMs));
    this.#run = undefined;
  }
}

function setError(span: OpenTelemetrySpan | undefined, type: string): void {
  span?.setAttributes({ "error.type": type });
  span?.setStatus({ code: STATUS_ERROR });
}
