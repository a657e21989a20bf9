import type { Outcome } from "../domain/call.ts";
import { FAILURE_CATEGORIES, type FailureCategory } from "../domain/failure.ts";

/**
 * Where the time went, in milliseconds. Within a run each figure is the length of a union of intervals:
 * what happened in parallel is counted once. Several runs are added up.
 */
export interface PerformanceTimes {
  /** While the run was open or calls were not settled; a host's own time between batches is not in it. */
  readonly totalMs: number;
  /** While a model request was open. */
  readonly modelMs: number;
  /** While calls waited for a person's answer. */
  readonly approvalMs: number;
  /** While at least one executor ran. */
  readonly toolMs: number;
  /** While at least one call that was then dispatched waited for a slot only. */
  readonly queueMs: number;
  /** While at least one such call waited for a conflict key. */
  readonly keyMs: number;
  /** While at least one such call waited for its epoch, a person's time taken out. */
  readonly barrierMs: number;
  /**
   * In durable actions outside of the host's handler: keys, intent, receipt. An action says how long, not
   * when; its time is taken as lying at the start of its call, so parallel actions are not counted twice.
   */
  readonly durableFrameworkMs: number;
  /** `totalMs` less the union of model, tool and approval time: the kernel and the host's hooks. */
  readonly frameworkMs: number;
}

/**
 * What runs did and where their time went, without any content (OBS-4). JSON by `JSON.stringify`, a text
 * table by {@link formatSummary}.
 */
export interface GameAgentPerformanceSummary {
  readonly runs: number;
  /** Turns that were begun; of a session, responses with at least one call. */
  readonly turns: number;
  readonly modelRequests: number;
  /** Calls that have their result; the sum of `outcomes`. */
  readonly toolCalls: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Calls that did not succeed; their sum is `toolCalls` less `outcomes.succeeded`. */
  readonly failuresByCategory: Readonly<Record<FailureCategory, number>>;
  /** Write calls that were dispatched, without durable actions that executed nothing (a replay, a conflict). */
  readonly worldWrites: number;
  /** Writes whose outcome nobody knew when they settled. */
  readonly uncertainWrites: number;
  /** Durable actions that were not executed a second time. */
  readonly duplicatesPrevented: number;
  /** Durable actions whose receipt came from `recover`. */
  readonly recoveries: number;
  readonly exactRepeatAdvisories: number;
  readonly exactRepeatTerminations: number;
  /** Executors that came back after their call had been given up. */
  readonly lateSettlements: number;
  /** Uncertain writes that the host resolved. */
  readonly uncertaintiesResolved: number;
  readonly times: PerformanceTimes;
}

/** A summary that its owner still writes. */
export type SummaryDraft = Writable<GameAgentPerformanceSummary>;

type Writable<Figures> = {
  -readonly [Name in keyof Figures]: Figures[Name] extends number ? number : Writable<Figures[Name]>;
};

/** The summary of nothing: every figure is there, and 0. */
export function emptySummary(): SummaryDraft {
  return {
    runs: 0,
    turns: 0,
    modelRequests: 0,
    toolCalls: 0,
    outcomes: { succeeded: 0, failed: 0, refused: 0, blocked: 0, cancelled: 0, uncertain: 0, repeatTerminated: 0 },
    // One figure for each of the categories, which are all there are.
    failuresByCategory: Object.fromEntries(FAILURE_CATEGORIES.map((category) => [category, 0])) as Record<
      FailureCategory,
      number
    >,
    worldWrites: 0,
    uncertainWrites: 0,
    duplicatesPrevented: 0,
    recoveries: 0,
    exactRepeatAdvisories: 0,
    exactRepeatTerminations: 0,
    lateSettlements: 0,
    uncertaintiesResolved: 0,
    times: {
      totalMs: 0,
      modelMs: 0,
      approvalMs: 0,
      toolMs: 0,
      queueMs: 0,
      keyMs: 0,
      barrierMs: 0,
      durableFrameworkMs: 0,
      frameworkMs: 0,
    },
  };
}

/** Adds summaries up, figure by figure. */
export function addSummaries(summaries: Iterable<GameAgentPerformanceSummary>): GameAgentPerformanceSummary {
  const sum = emptySummary();
  for (const summary of summaries) addFigures(sum, summary);
  return sum;
}

interface Figures {
  [name: string]: number | Figures;
}

function addFigures(into: object, from: object): void {
  const sum = into as Figures; // a summary holds figures and groups of figures, nothing else
  for (const [name, figure] of Object.entries(from as Figures)) {
    const before = sum[name];
    if (typeof figure === "number") sum[name] = (typeof before === "number" ? before : 0) + figure;
    else if (typeof before === "object") addFigures(before, figure);
  }
}
