/** Every transition of every chart, taken by the real kernel. `npm run test:model` prints how often. */
import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { AnyStateMachine } from "xstate";
import { ACTION_MODELS } from "./action.model.ts";
import { openAction } from "./action.system.ts";
import { BATCH_MODEL, openBatch } from "./batch.system.ts";
import { type ChartModel, coveringPaths, transitionsOf } from "./chart-paths.ts";
import { EPOCH_MODELS, openEpoch } from "./epoch.system.ts";
import type { Kernel } from "./kernel.ts";
import { loadSubject } from "./plant-bug.ts";
import { openResumedCall, RESUMED_CALL_MODELS } from "./resumed-call.system.ts";
import { RUN_MODEL } from "./run.model.ts";
import { openRun } from "./run.system.ts";
import { faultsOf, type OpenSystem, runPaths } from "./run-paths.ts";
import { isReporting, report } from "./scale.ts";
import { TOOL_CALL_MODELS } from "./tool-call.model.ts";
import { openToolCall } from "./tool-call.system.ts";

let kernel: Kernel;

beforeAll(async () => {
  kernel = await loadSubject();
  // Of a run that is resumed XState warns that its first actor has ended; it has (APP-3).
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});

async function follow<Memory extends object>(
  machine: AnyStateMachine,
  models: readonly ChartModel<Memory>[],
  open: OpenSystem,
): Promise<string[]> {
  const found = await runPaths(models.flatMap(coveringPaths), open);
  if (isReporting) {
    const all = transitionsOf(machine);
    const lines = all.map((name) => `${String(found.transitions.get(name) ?? 0).padStart(6)}  ${name}`);
    const taken = all.filter((name) => found.transitions.has(name)).length;
    report([
      `${machine.id}: ${found.paths} paths take ${taken} of ${all.length} transitions and reach ${found.states.size} states`,
      ...lines,
    ]);
  }
  return faultsOf(found, machine);
}

describe.each(["xstate", "compiled"] as const)("on %s the kernel goes every way of the chart of", (interpreter) => {
  it("a call: PREP-1, APP-1, EPOCH-2, EPOCH-4, UNC-1, UNC-5, UNC-7, CAN-1 to CAN-5, REP-5, RUN-6", async () => {
    const [openNew, openResumed] = [openToolCall(kernel, interpreter), openResumedCall(kernel, interpreter)];
    const open: OpenSystem = (path) => (RESUMED_CALL_MODELS.includes(path.model) ? openResumed(path) : openNew(path));
    expect(await follow(toolCallMachine, [...TOOL_CALL_MODELS, ...RESUMED_CALL_MODELS], open)).toEqual([]);
  }, 60_000);

  it("an epoch: EPOCH-2 to EPOCH-5, EPOCH-9, CAN-1, CAN-5", async () => {
    expect(await follow(epochMachine, EPOCH_MODELS, openEpoch(kernel, interpreter))).toEqual([]);
  }, 60_000);

  it("a batch: PREP-1, PREP-9, PREP-12, APP-1, REP-2, EPOCH-2, CAN-1, CAN-5", async () => {
    expect(await follow(batchMachine, [BATCH_MODEL], openBatch(kernel, interpreter))).toEqual([]);
  }, 60_000);

  it("a run: RUN-1 to RUN-6, APP-3, PROJ-5, REP-5, CAN-1, CAN-5", async () => {
    expect(await follow(runMachine, [RUN_MODEL], openRun(kernel, interpreter))).toEqual([]);
  }, 60_000);
});

it("the dispatcher goes every way of the chart of a durable action: ACT-1 to ACT-6", async () => {
  expect(await follow(actionMachine, ACTION_MODELS, openAction(kernel))).toEqual([]);
});

describe("the check of paths finds", () => {
  it("an empty set of paths, and transitions that none has taken", async () => {
    const found = await runPaths([], openAction(kernel));
    expect(faultsOf(found, actionMachine).slice(0, 2)).toEqual(["there are no paths", "state never reached: new"]);
    expect(faultsOf(found, actionMachine)).toHaveLength(1 + 8 + transitionsOf(actionMachine).length);
  });
});
