/**
 * An Agent: the whole loop, run by run.
 * Owns: which of its runs are live or wait for approvals. Does not own: how a run goes (run/run-loop).
 * Invariants: `run` and `resume` never throw; misuse is in the run's result, as status `kernelError`.
 */
import type { ApprovalDecisions } from "../domain/approval.ts";
import { KernelError } from "../domain/errors.ts";
import type { Message, UserMessage } from "../domain/message.ts";
import type { RunOutcome } from "../domain/run.ts";
import { EventStream } from "../observe/event-stream.ts";
import { createLanes } from "../plan/lanes.ts";
import { ajvValidator } from "../prepare/ajv-validator.ts";
import { registerTools, type ToolRegistry } from "../prepare/register-tools.ts";
import { createId, systemClock } from "../run/clock.ts";
import type { CallRun } from "../run/run-call.ts";
import { RunLoop } from "../run/run-loop.ts";
import { SessionCore } from "../run/session-core.ts";
import { asMisuse } from "../run/thrown.ts";
import { type AgentOptions, checkAgentOptions, checkRunOptions, type RunOptions } from "./agent-options.ts";
import { checkOptions, invalidOption, isAnything, isBoolean } from "./check-options.ts";
import { checkDecisions, readMessages, readRunInput, readUserMessage } from "./read-messages.ts";
import { isSignal } from "./read-response.ts";
import { resolveUncertain } from "./resolve-uncertain.ts";
import { type Run, RunHandle } from "./run-handle.ts";
import { completeSettings, readLanes, stuckError } from "./session-options.ts";

/** Options of `resume`. */
export interface ResumeOptions {
  /** Answers to open approvals, by id; an unknown id is `INVALID_OPTIONS`. */
  readonly approvals?: ApprovalDecisions | undefined;
  /** Refuses every approval that is then still undecided (APP-2). */
  readonly blockOthers?: boolean | undefined;
  /** Comes in place of an answer: everything undecided is refused before it (APP-4). */
  readonly message?: string | UserMessage | undefined;
  readonly host?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A run of this Agent and what belongs to it. */
interface KnownRun {
  readonly loop: RunLoop;
  readonly events: EventStream;
  isLive: boolean;
}

const RESUME_CHECKS = {
  approvals: isAnything,
  blockOthers: isBoolean,
  message: isAnything,
  host: isAnything,
  signal: isSignal,
};

/** See the file header. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #validator: NonNullable<AgentOptions["jsonSchemaValidator"]>;
  readonly #tools: ToolRegistry;
  /** Live runs, and those that wait for approvals. */
  readonly #runs = new Map<string, KnownRun>();

  /** @throws KernelError `INVALID_OPTIONS` naming the option, `DUPLICATE_TOOL`, `INVALID_TOOL_SCHEMA`. */
  constructor(options: AgentOptions) {
    checkAgentOptions(options);
    completeSettings(options, "checked once, for its limits");
    this.#options = options;
    this.#validator = options.jsonSchemaValidator ?? ajvValidator();
    this.#tools = registerTools(options.tools, this.#validator);
  }

  /** Starts a run with a prompt, or with messages of which the user's last ones are the prompt (RUN-1). */
  run(input: string | readonly Message[], options: RunOptions = {}): Run {
    const runId = readRunId(options);
    const events = this.#createEvents(runId);
    try {
      checkRunOptions(options);
      const { earlier, prompt } = readRunInput(input);
      if (this.#runs.has(runId)) throw claimedError(runId);
      const known: KnownRun = { loop: this.#createLoop(events, { ...options, runId }, earlier), events, isLive: true };
      this.#runs.set(runId, known);
      return this.#start(known, options.signal, () => known.loop.enter("BEGIN", prompt));
    } catch (error) {
      return failedRun(runId, events, error);
    }
  }

  /** Goes on with a run that waits for approvals (APP-3). */
  resume(runId: string, options: ResumeOptions = {}): Run {
    const known = this.#runs.get(runId);
    try {
      checkOptions(options, RESUME_CHECKS, { path: "options" });
      if (known === undefined)
        throw new KernelError("RUN_NOT_FOUND", "This Agent has no open run of that id; nothing was resumed.", {
          subject: "runId",
        });
      if (known.isLive) throw claimedError(runId);
      const approvals = options.approvals ?? {};
      checkDecisions(approvals);
      const unknown = Object.keys(approvals).find((id) => known.loop.batch?.approvals.has(id) !== true);
      if (unknown !== undefined)
        throw invalidOption(`approvals.${unknown.slice(0, 64)}`, "is no open approval of this run");
      const message = options.message === undefined ? undefined : readUserMessage(options.message, "message");
      known.isLive = true;
      if (options.host !== undefined) known.loop.core.host = options.host;
      known.loop.reopen({ approvals, blockOthers: options.blockOthers === true, message });
      return this.#start(known, options.signal, () => known.loop.enter("RESUME", []));
    } catch (error) {
      const shownId = typeof runId === "string" ? runId : "";
      return failedRun(shownId, this.#createEvents(shownId), error);
    }
  }

  #createEvents(runId: string): EventStream {
    return new EventStream({ runId, clock: this.#options.clock ?? systemClock, telemetry: this.#options.telemetry });
  }

  #createLoop(
    events: EventStream,
    { runId, host }: { readonly runId: string; readonly host?: unknown },
    earlier: readonly Message[],
  ): RunLoop {
    const options = this.#options;
    const core = new SessionCore(completeSettings(options, runId), {
      tools: this.#tools,
      lanes: options.lanes === undefined ? createLanes<CallRun>() : readLanes<CallRun>(options.lanes),
      events,
      host: host === undefined ? options.host : host,
      onFault: (error) => this.#break(runId, error),
    });
    const settings = {
      model: options.model,
      systemPrompt: options.systemPrompt,
      hooks: options.hooks ?? {},
      tools: this.#tools,
      register: (tools: readonly unknown[]) => registerTools(tools, this.#validator, this.#tools),
      readMessages,
    };
    return new RunLoop(core, settings, earlier);
  }

  #start(known: KnownRun, signal: AbortSignal | undefined, begin: () => void): Run {
    const { loop, events } = known;
    const { core } = loop;
    const { runId } = core.settings;
    const hub = events.createHub();
    const handle = new RunHandle(hub, {
      runId,
      enqueue: (queue, message) => loop.enqueue(queue, readUserMessage(message, "message")),
      abort: (reason) => loop.abort(reason),
      resolveUncertain: async (id, resolution) => resolveUncertain(core, id, resolution),
      performance: () => events.performance(),
    });
    const abort = (): void => loop.abort(signal?.reason);
    loop.onEnd = (outcome) => {
      signal?.removeEventListener("abort", abort);
      known.isLive = false;
      if (outcome.status !== "awaitingApproval") this.#runs.delete(runId);
      events.direct(undefined);
      handle.end(outcome);
    };
    events.direct(hub);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    queueMicrotask(begin);
    return handle;
  }

  /** A broken invariant: the run ends as it is, and nothing more of it is believed. */
  #break(runId: string, cause: unknown): void {
    const known = this.#runs.get(runId);
    if (known === undefined) return;
    known.loop.breakOff(stuckError(cause));
  }
}

function claimedError(runId: string): KernelError {
  const message = `The run ${JSON.stringify(runId.slice(0, 128))} is live or waits for approvals; wait for its result, then resume it or take another id.`;
  return new KernelError("RUN_CLAIMED", message, { subject: "runId" });
}

/** The id a host gave, where it can be read; whether it is a good one is checked with the other options. */
function readRunId(options: RunOptions): string {
  try {
    if (typeof options.runId === "string") return options.runId;
  } catch {
    // The check of the options will say so.
  }
  return createId();
}

/** A run that could not start: its one event and its result say why. */
function failedRun(runId: string, events: EventStream, thrown: unknown): Run {
  const error = asMisuse(thrown, "What the run was given cannot be read, so it did not start.");
  const hub = events.createHub();
  const handle = new RunHandle(hub, {
    runId,
    enqueue: () => ({ accepted: false, reason: "ended" }),
    abort: () => undefined,
    resolveUncertain: () => Promise.reject(new KernelError("OPERATION_UNKNOWN", "The run did not start.")),
    performance: () => events.performance(),
  });
  events.direct(hub);
  const outcome: RunOutcome = {
    runId,
    status: "kernelError",
    messages: [],
    newMessages: [],
    undelivered: [],
    turns: 0,
    toolCalls: 0,
    error,
  };
  queueMicrotask(() => {
    events.emit("runFaulted", 0, { code: error.code });
    events.emit("runEnded", 0, { status: "kernelError" });
    handle.end(outcome);
  });
  return handle;
}
