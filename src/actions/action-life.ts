import { type ActionEvent, actionMachine } from "../../machines/action.machine.ts";
import type { ActionWatch, ReceiptStatus } from "../domain/action.ts";
import { KernelError } from "../domain/errors.ts";
import type { JournalState } from "../domain/journal.ts";

/** A fact of an action's life. */
export type ActionFact = ActionEvent["type"];

type Life = JournalState | "new";
type Edges = Readonly<Partial<Record<ActionFact, JournalState>>>;

/** The fact that a receipt of each status is. */
export const FACT_OF_STATUS: Readonly<Record<ReceiptStatus, ActionFact>> = Object.freeze({
  committed: "COMMITTED",
  rejected: "REJECTED",
  failed: "FAILED",
  uncertain: "LOST",
});

/**
 * The chart of a durable action as the dispatcher runs it: the edges of `actionMachine` itself, read once.
 * Owns: nothing that changes. Every step a dispatcher takes goes over an edge of it (ACT-2).
 */
export class ActionChart {
  readonly #edges: ReadonlyMap<string, Edges>;

  constructor() {
    // The chart is one literal whose every transition is a plain target; a test compares this with XState itself.
    const states = actionMachine.config.states as Readonly<Record<string, { readonly on?: Edges }>>;
    this.#edges = new Map(Object.entries(states).map(([state, { on }]) => [state, on ?? {}]));
  }

  /** Where a fact leads from a state; undefined when it cannot be told there. */
  next(state: Life, fact: ActionFact): JournalState | undefined {
    return this.#edges.get(state)?.[fact];
  }
}

/**
 * One action on its way through the chart.
 * Owns: the state it is in. Invariant: it only moves over edges of the chart, after the journal has.
 */
export class ActionLife {
  readonly #chart: ActionChart;
  readonly #watch: ActionWatch | undefined;
  #state: Life;

  constructor(chart: ActionChart, state: Life, watch?: ActionWatch) {
    this.#chart = chart;
    this.#state = state;
    this.#watch = watch;
  }

  /** Where it is. */
  get state(): Life {
    return this.#state;
  }

  /**
   * Tells a fact that the journal holds.
   * @throws KernelError `KERNEL_STUCK` when the chart has no such edge: the journal broke ACT-2.
   */
  tell(fact: ActionFact): void {
    const next = this.#chart.next(this.#state, fact);
    if (next === undefined) {
      throw new KernelError(
        "KERNEL_STUCK",
        `The journal reported ${fact} of an action that is ${this.#state}; no such step exists (ACT-2).`,
      );
    }
    this.#state = next;
    this.#watch?.(fact);
  }
}
