/**
 * An Agent: the whole loop, run by run.
 * Owns: which of its runs are live or wait for approvals. Does not own: how a run goes (run/run-loop).
 * Invariants: `run` and `resume` never throw; misuse is in the run's result, as status `kernelError`.
 */

import { checkOptions, mustBeId } from "../domain/check-options.ts";
import type { Message, UserMessage } from "../domain/message.ts";
import type { RunStore } from "../domain/run-store.ts";
import { EventStream } from "../observe/event-stream.ts";
import { createLanes } from "../plan/lanes.ts";
import { stockValidator } from "../prepare/ajv-validator.ts";
import { registerTools, type ToolRegistry } from "../prepare/register-tools.ts";
import type { CallRun } from "../run/call/run-call.ts";
import { createId, systemClock } from "../run/clock.ts";
import { RunLoop } from "../run/loop/run-loop.ts";
import type { ResumeFacts } from "../run/loop/run-settings.ts";
import { SessionCore } from "../run/session-core.ts";
import { asMisuse } from "../run/thrown.ts";
import { type AgentOptions, checkAgentOptions, checkRunOptions, type RunOptions } from "./agent-options.ts";
import { checkAnswers } from "./check-answers.ts";
import { claimedError, failedRun, notFoundError } from "./failed-run.ts";
import { LateFacts } from "./late-facts.ts";
import { readMessages, readRunInput, readUserMessage } from "./read-messages.ts";
import { resolveUncertain } from "./resolve-uncertain.ts";
import { type ResumeOptions, readResumeOptions } from "./resume-options.ts";
import { type Run, RunHandle } from "./run-handle.ts";
import { completeSettings, readLanes, stuckError } from "./session-options.ts";
import { checkStorable, claimNewRun, takeOverRun } from "./stored-runs.ts";

/** A run of this Agent and what belongs to it. */
interface KnownRun {
  readonly loop: RunLoop;
  readonly events: EventStream;
  isLive: boolean;
}

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
    this.#validator = options.jsonSchemaValidator ?? stockValidator;
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
      return this.#start(known, options.signal, async () => {
        const { runStore } = this.#options;
        if (runStore !== undefined) await claimNewRun(runStore, known.loop, prompt);
        known.loop.enter("BEGIN", prompt);
      });
    } catch (error) {
      return failedRun(runId, events, error);
    }
  }

  /**
   * Resumes a run: one of this Agent that waits for approvals (APP-3), or with a run store any run that
   * nobody holds, from where it was left (RUN-6). An ended run of the store gives its result again.
   */
  resume(runId: string, options: ResumeOptions = {}): Run {
    try {
      const facts = readResumeOptions(options);
      this.#checkSaid(facts.message);
      return this.#options.runStore === undefined
        ? this.#reopen(runId, facts, options)
        : this.#takeOver({ runId, runStore: this.#options.runStore }, facts, options);
    } catch (error) {
      const shownId = typeof runId === "string" ? runId : "";
      return failedRun(shownId, this.#createEvents(shownId), error);
    }
  }

  #reopen(runId: string, facts: ResumeFacts, { host, signal }: ResumeOptions): Run {
    const known = this.#runs.get(runId);
    if (known === undefined) throw notFoundError();
    if (known.isLive) throw claimedError(runId);
    checkAnswers(facts.approvals, (id) => known.loop.batch?.approvals.standingOf(id), "run");
    known.isLive = true;
    if (host !== undefined) known.loop.core.host = host;
    known.loop.reopen(facts);
    return this.#start(known, signal, () => known.loop.enter("RESUME", []));
  }

  #takeOver(
    { runId, runStore }: { readonly runId: string; readonly runStore: RunStore },
    facts: ResumeFacts,
    { host, signal }: ResumeOptions,
  ): Run {
    checkOptions({ runId }, { runId: mustBeId }, { path: "options", required: ["runId"] });
    if (this.#runs.has(runId)) throw claimedError(runId);
    const events = this.#createEvents(runId);
    const known: KnownRun = { loop: this.#createLoop(events, { runId, host }, []), events, isLive: true };
    this.#runs.set(runId, known);
    return this.#start(known, signal, async () => {
      const taken = await takeOverRun(runStore, known.loop, facts);
      if (taken.kind === "open") known.loop.enter(taken.entry, []);
      else known.loop.endAgain(taken.outcome);
    });
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

  #start(known: KnownRun, signal: AbortSignal | undefined, begin: () => void | Promise<void>): Run {
    const { loop, events } = known;
    const { core } = loop;
    const { runId } = core.settings;
    const hub = events.createHub();
    const { runStore } = this.#options;
    const facts = runStore === undefined ? undefined : new LateFacts(core, runStore);
    const handle = new RunHandle(hub, {
      runId,
      enqueue: (queue, message) => {
        const said = readUserMessage(message, "message");
        this.#checkSaid(said);
        return loop.enqueue(queue, said);
      },
      abort: (reason) => loop.abort(reason),
      resolveUncertain: async (id, resolution) => {
        // Of a run that is being taken over nothing is known yet; of any other it counts at once.
        if (!loop.isOpen && facts !== undefined) await begun.catch(() => undefined);
        await resolveUncertain({ core, facts }, id, resolution);
      },
      performance: () => events.performance(),
    });
    const abort = (): void => loop.abort(signal?.reason);
    loop.onEnd = (outcome) => {
      signal?.removeEventListener("abort", abort);
      known.isLive = false;
      // With a store nobody holds a run that waits; whoever resumes it takes it from there.
      const isKept = outcome.status === "awaitingApproval" && core.recorder === undefined;
      if (!isKept) this.#runs.delete(runId);
      events.direct(undefined);
      handle.end(outcome);
    };
    events.direct(hub);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    const fail = (error: unknown): void =>
      loop.breakOff(asMisuse(error, "The run store gave no answer, so the run did not start."));
    // In a microtask, after the host has its handle.
    const begun = Promise.resolve().then(begin);
    begun.catch(fail);
    return handle;
  }

  #checkSaid(message: UserMessage | undefined): void {
    if (this.#options.runStore !== undefined) checkStorable(message, "message");
  }

  /** A broken invariant: the run ends as it is, and nothing more of it is believed. */
  #break(runId: string, cause: unknown): void {
    const known = this.#runs.get(runId);
    if (known === undefined) return;
    known.loop.breakOff(stuckError(cause));
  }
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
