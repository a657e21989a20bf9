import type { JournalState } from "../domain/journal.ts";

/** A state an entry can be in, or that there is none yet. */
export type StateBefore = JournalState | "new";

/**
 * Which states may follow which (ACT-2): what the stores written in JavaScript go by. The SQL stores say
 * the same in their triggers; a test holds all of them to the chart `machines/action.machine.ts`.
 */
export const NEXT_STATES: Readonly<Record<StateBefore, readonly JournalState[]>> = Object.freeze({
  new: ["prepared", "dispatched"],
  prepared: ["dispatched", "abandoned"],
  abandoned: ["prepared", "dispatched"],
  dispatched: ["committed", "rejected", "failed", "uncertain"],
  uncertain: ["committed", "rejected", "failed"],
  committed: [],
  rejected: [],
  failed: [],
});

/** States that `listOpen` shows. */
export const OPEN_STATES: readonly JournalState[] = Object.freeze(["prepared", "dispatched", "uncertain"]);

/** Whether an entry in this state has its receipt for ever. */
export function isFinalState(state: JournalState): boolean {
  return NEXT_STATES[state].length === 0;
}
