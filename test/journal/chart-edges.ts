import { getInitialSnapshot, getNextSnapshot } from "xstate";
import { actionMachine } from "../../machines/action.machine.ts";
import type { JournalState } from "../../src/domain/journal.ts";

/** Every state of an entry, in the order of its life. */
export const JOURNAL_STATES: readonly JournalState[] = [
  "prepared",
  "abandoned",
  "dispatched",
  "uncertain",
  "committed",
  "rejected",
  "failed",
];

const FACTS = ["QUEUED", "CLAIMED", "ABANDONED", "COMMITTED", "REJECTED", "FAILED", "LOST"] as const;

/**
 * The edges of the chart as `before -> after`, found by XState itself: every fact is told in every state.
 * In the order of {@link JOURNAL_STATES}, `new` first.
 */
export function chartEdges(): string[] {
  const order = ["new", ...JOURNAL_STATES];
  const edges = order.flatMap((before) => FACTS.flatMap((type) => edgeOf(before, type)));
  return edges.sort((one, other) => rank(order, one) - rank(order, other));
}

function edgeOf(before: string, type: (typeof FACTS)[number]): string[] {
  const initial = getInitialSnapshot(actionMachine);
  const snapshot = actionMachine.resolveState({ ...initial, value: before as never });
  const after = String(getNextSnapshot(actionMachine, snapshot, { type }).value);
  return after === before ? [] : [`${before} -> ${after}`];
}

function rank(order: readonly string[], edge: string): number {
  const [before = "", after = ""] = edge.split(" -> ");
  return order.indexOf(before) * order.length + order.indexOf(after);
}
