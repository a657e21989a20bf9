/**
 * Records what a session or an Agent does, for the inspector and the timeline.
 * Owns: which actor has which number, which root belongs to which run, the records that wait until their
 * run is known. Does not own: where lines go. Invariants: lines come in the order of what they tell; no
 * argument, result or conflict key is recorded unless the host asked for it (OBS-3).
 */
import {
  type Clock,
  type GivenResponse,
  type Inspect,
  type InspectionRecord,
  type JsonObject,
  type JsonValue,
  type KernelEvent,
  recordJsonLines,
  systemClock,
  type Telemetry,
  type TraceRecord,
} from "toolkernel";
import {
  checkGiven,
  checkOptions,
  mustBeBoolean,
  mustBeFunction,
  mustBeList,
  mustHaveMethods,
  type OptionCheck,
} from "../../domain/check-options.ts";
import { ignoreRejection } from "../../domain/promise-like.ts";
import { argumentsOf, contentOf, type EventSource, resultText } from "./content.ts";
import { INSPECTION_VERSION, RECORD_NAMES } from "./entry.ts";
import { readActor, readTransition } from "./inspection.ts";

/** Options of {@link recordRun}; what is left out is not recorded. */
export interface RecordRunOptions {
  /** Records conflict keys beside their lane numbers; keys are made from arguments. */
  readonly conflictKeys?: boolean | undefined;
  /** Records what calls were given, of what is followed. */
  readonly arguments?: boolean | undefined;
  /** Records what calls came to, receipts of durable actions among them, of what is followed. */
  readonly results?: boolean | undefined;
  /** The clock of the session, if it is not the platform's. */
  readonly clock?: Pick<Clock, "now"> | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof RecordRunOptions, OptionCheck>> = {
  conflictKeys: mustBeBoolean,
  arguments: mustBeBoolean,
  results: mustBeBoolean,
  clock: mustHaveMethods("now"),
};

const mustBeResponse: OptionCheck = (value) =>
  Array.isArray(value) ? undefined : mustBeList((value as { readonly calls?: unknown } | null)?.calls);

/** Records that wait for their run; a session that has no `telemetry` never says which it is. */
const MOST_WAITING = 10_000;

/** What a session or an Agent is given so that it is recorded: `telemetry` and `inspect` are options of theirs. */
export interface RunRecorder {
  readonly telemetry: Telemetry;
  readonly inspect: Inspect;
  /**
   * Records arguments and results of a batch or a run, as far as the options ask for them; else does nothing.
   * Arguments of a session's batch have to be given: `follow(session.execute(calls), calls)`.
   */
  follow(source: EventSource, response?: GivenResponse): void;
}

/**
 * Makes a recorder for one session or one Agent. The recording is JSON Lines: what `recordJsonLines` of the
 * core writes, and between it what the charts did. `readRecording` reads all of it, `readJsonLines` the events.
 * **shape**: `write` is given each line with its line end; what it throws is swallowed by the kernel.
 * @throws KernelError `INVALID_OPTIONS` for anything but a function, and naming the option.
 */
export function recordRun(write: (line: string) => void, options: RecordRunOptions = {}): RunRecorder {
  checkGiven(write, "write", mustBeFunction);
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const recorder = new Recorder(write, options);
  return {
    telemetry: recorder,
    inspect: (inspectionEvent) => recorder.inspect(inspectionEvent),
    follow: (source, response) => recorder.follow(source, response),
  };
}

class Recorder implements Telemetry, RunRecorder {
  readonly wantsConflictKeys: boolean;
  readonly telemetry: Telemetry = this;
  readonly #trace: Telemetry;
  readonly #write: (line: string) => void;
  readonly #options: RecordRunOptions;
  readonly #now: () => number;
  readonly #actors = new Map<string, number>();
  /** The runs of roots that say which they are. */
  readonly #runs = new Map<string, string>();
  #actorCount = 0;
  /** The run of a session: its batches do not say it, its events do. */
  #sessionRun: string | undefined;
  #waiting: Omit<TraceRecord, "runId">[] = [];

  constructor(write: (line: string) => void, options: RecordRunOptions) {
    this.#write = (line) => ignoreRejection(write(line));
    this.#options = options;
    const clock = options.clock ?? systemClock;
    this.#now = () => clock.now();
    this.wantsConflictKeys = options.conflictKeys === true;
    this.#trace = recordJsonLines(this.#write, { conflictKeys: this.wantsConflictKeys });
    this.#record("", RECORD_NAMES.start, { version: INSPECTION_VERSION });
  }

  record(traceRecord: TraceRecord): void {
    this.#sessionRun = traceRecord.runId;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) this.#writeRecord({ ...each, runId: traceRecord.runId });
    this.#trace.record(traceRecord);
  }

  inspect(inspectionEvent: InspectionRecord): void {
    const { rootId } = inspectionEvent;
    const started = readActor(inspectionEvent);
    if (started !== undefined) {
      const actor = this.#actorCount++;
      this.#actors.set(started.sessionId, actor);
      if (started.runId !== undefined) this.#runs.set(rootId, started.runId);
      this.#recordOf(rootId, RECORD_NAMES.actor, { actor, id: started.id, chart: started.chart });
      return;
    }
    const taken = readTransition(inspectionEvent);
    const actor = taken === undefined ? undefined : this.#actors.get(taken.sessionId);
    if (taken === undefined || actor === undefined) return;
    const { event, state, isDone, facts, sessionId } = taken;
    this.#recordOf(rootId, RECORD_NAMES.transition, { actor, event, state, isDone, facts });
    if (!isDone) return;
    this.#actors.delete(sessionId);
    if (sessionId === rootId) this.#runs.delete(rootId);
  }

  follow(source: EventSource, response?: GivenResponse): void {
    checkGiven(source, "source", mustHaveMethods("subscribe"));
    if (response !== undefined) checkGiven(response, "response", mustBeResponse);
    const { arguments: wantsArguments, results: wantsResults } = this.#options;
    if (wantsArguments === true) {
      const told = new Set<string>();
      source.subscribe((event) => this.#recordArguments(event, response, told));
    }
    if (wantsResults === true) {
      source.subscribe((event) => {
        if (event.kind === "toolEnded") this.#recordContent(event, "result", resultText(event.result));
      });
    }
  }

  /** Once a call, though its begin and its refusal both tell of it. */
  #recordArguments(event: KernelEvent, response: GivenResponse | undefined, told: Set<string>): void {
    for (const { callIndex, text } of argumentsOf(event, response)) {
      const call = `${event.turn}/${callIndex}`;
      if (!told.has(call)) this.#recordContent({ ...event, callIndex }, "arguments", text);
      told.add(call);
    }
  }

  #recordContent(
    { runId, turn, callIndex }: Pick<KernelEvent<"toolEnded">, "runId" | "turn" | "callIndex">,
    part: "arguments" | "result",
    text: string,
  ): void {
    this.#record(runId, RECORD_NAMES.content, { turn, callIndex, part, ...contentOf(text) });
  }

  /** Before the first event of a session nobody knows which run its charts are of. */
  #recordOf(rootId: string, name: string, attributes: JsonObject): void {
    const runId = this.#runs.get(rootId) ?? this.#sessionRun;
    if (runId !== undefined) this.#record(runId, name, attributes);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push({ name, timeMs: this.#now(), attributes });
  }

  #record(runId: string, name: string, attributes: Readonly<Record<string, JsonValue>>): void {
    this.#writeRecord({ name, timeMs: this.#now(), runId, attributes });
  }

  #writeRecord(traceRecord: TraceRecord): void {
    this.#write(`${JSON.stringify(traceRecord)}\n`);
  }
}
