import { batchMachine, epochMachine, toolCallMachine } from "toolkernel/machines";
import { compileChart } from "../../src/interpreter/compile-chart.ts";
import * as lanes from "../../src/plan/lanes.ts";
import { planEpochs } from "../../src/plan/plan-epochs.ts";
import { isStartable } from "../../src/plan/startable.ts";
import { findBlocker } from "../../src/plan/uncertain-writes.ts";
import type { SchedulerParts } from "./scheduler-state.ts";

/** The parts of the scheduler that the kernel runs. */
export const REAL_PARTS: SchedulerParts = {
  batch: compileChart(batchMachine),
  epoch: compileChart(epochMachine),
  call: compileChart(toolCallMachine),
  lanes,
  isStartable,
  planEpochs,
  findBlocker,
  hasFreeSlot: (running, cap) => running < cap,
  mayLaunch: (isCancelled) => !isCancelled,
};
