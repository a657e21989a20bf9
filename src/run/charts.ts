/** The charts that run, each with the table compiled from it. Immutable, made once. */
import type { AnyStateMachine } from "xstate";
import { batchMachine } from "../../machines/batch.machine.ts";
import { epochMachine } from "../../machines/epoch.machine.ts";
import { runMachine } from "../../machines/run.machine.ts";
import { toolCallMachine } from "../../machines/tool-call.machine.ts";
import { type ChartTable, compileChart } from "../interpreter/compile-chart.ts";

/** A chart for either interpreter. */
export interface Chart<Machine extends AnyStateMachine> {
  readonly machine: Machine;
  readonly table: ChartTable;
}

/** The loop. */
export const RUN_CHART = chartOf(runMachine);
/** One response. */
export const BATCH_CHART = chartOf(batchMachine);
/** One epoch. */
export const EPOCH_CHART = chartOf(epochMachine);
/** One call. */
export const CALL_CHART = chartOf(toolCallMachine);

function chartOf<Machine extends AnyStateMachine>(machine: Machine): Chart<Machine> {
  return Object.freeze({ machine, table: compileChart(machine) });
}
