import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import type { AnyStateMachine } from "xstate";

/** The charts by the names that commands and files have for them. */
export const CHARTS = {
  run: runMachine,
  batch: batchMachine,
  epoch: epochMachine,
  "tool-call": toolCallMachine,
  action: actionMachine,
} as const satisfies Readonly<Record<string, AnyStateMachine>>;

/** The name of a chart. */
export type ChartName = keyof typeof CHARTS;

/** All names, the widest chart first. */
export const CHART_NAMES: readonly ChartName[] = ["run", "batch", "epoch", "tool-call", "action"];
