import { actionMachine } from "toolkernel/machines";
import type { ChartModel } from "./chart-paths.ts";

/** The fact that leads to each state of a journal's entry. */
export const FACT_OF_STATE = {
  prepared: "QUEUED",
  dispatched: "CLAIMED",
  abandoned: "ABANDONED",
  committed: "COMMITTED",
  rejected: "REJECTED",
  failed: "FAILED",
  uncertain: "LOST",
} as const;

/** The ways in which an uncertain action ends, and those in which it becomes uncertain. */
export const WAYS = ["late", "recover", "person"] as const;

/** One of them. */
export type ActionWay = (typeof WAYS)[number];

/** The chart of a durable action, once for every way in which an uncertain one can end. */
export const ACTION_MODELS: readonly ChartModel[] = WAYS.map((way) => ({
  name: `ended by ${way}`,
  machine: actionMachine,
  input: { way },
  facts: Object.values(FACT_OF_STATE).map((type) => ({ type })),
  memory: {},
}));
