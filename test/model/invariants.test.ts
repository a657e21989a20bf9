/** Each invariant bites: a scheduler that breaks it is found by its rule, and the real one is not. */
import { batchMachine, epochMachine, toolCallMachine } from "toolkernel/machines";
import { describe, expect, it } from "vitest";
import { compileChart } from "../../src/interpreter/compile-chart.ts";
import { describeScope, explore } from "./explore.ts";
import { CHART_BUGS } from "./planted-chart-bugs.ts";
import { REAL_PARTS } from "./scheduler-parts.ts";
import type { CallKind, SchedulerParts, Scope } from "./scheduler-state.ts";
import { KINDS } from "./scopes.ts";

const CHARTS = {
  batch: ["batchMachine", batchMachine],
  epoch: ["epochMachine", epochMachine],
  call: ["toolCallMachine", toolCallMachine],
} as const;

interface Fault {
  readonly invariant: string;
  /** How what is found begins. */
  readonly found: string;
  readonly calls: readonly string[];
  /** The calls of a second batch. */
  readonly next?: readonly string[];
  /** Default: parallel. */
  readonly mode?: Scope["mode"];
  /** Default: 2. */
  readonly cap?: number;
  readonly parts: Partial<SchedulerParts>;
}

const FAULTS: readonly Fault[] = [
  {
    invariant: "at most so many calls run",
    found: "EPOCH-3: 3 calls run",
    calls: ["read", "read", "read"],
    parts: { hasFreeSlot: (running, cap) => running <= cap },
  },
  {
    invariant: "no two calls with one key run",
    found: "EPOCH-4: call 1 was dispatched before 0 had settled",
    calls: ["write k", "write k"],
    parts: { isStartable: () => true },
  },
  {
    invariant: "a call with two keys waits for both",
    found: "EPOCH-4: call 1 was dispatched before 0 had settled",
    calls: ["write j", "write k and j"],
    parts: {
      isStartable: (call, ...others) => call.conflictKeys.length === 2 || REAL_PARTS.isStartable(call, ...others),
    },
  },
  {
    invariant: "a barrier runs alone",
    found: "EPOCH-2: call 1 was dispatched before 0 had settled",
    calls: ["read", "write"],
    mode: "safeParallel",
    parts: { planEpochs: (calls) => [[...calls]] },
  },
  {
    invariant: "no epoch starts before the former has settled",
    found: "EPOCH-2: call 2 was dispatched before 1 had settled",
    calls: ["read", "read", "write"],
    mode: "safeParallel",
    parts: withChart("epoch", "an epoch is over when its first call is"),
  },
  {
    invariant: "no write is dispatched behind an uncertain one of its key",
    found: "UNC-2, UNC-3: call 1 was dispatched behind uncertain 0",
    calls: ["write k", "write k"],
    parts: { findBlocker: () => undefined },
  },
  {
    invariant: "no write is dispatched behind an uncertain one without a key",
    found: "UNC-2, UNC-3: call 1 was dispatched behind uncertain 0",
    calls: ["write", "write j"],
    mode: "safeParallel",
    parts: { findBlocker: () => undefined },
  },
  {
    invariant: "a read is never blocked",
    found: "UNC-1: read 1 was blocked",
    calls: ["write", "read"],
    mode: "safeParallel",
    parts: { findBlocker: (later, uncertain) => REAL_PARTS.findBlocker({ ...later, isWrite: true }, uncertain) },
  },
  {
    invariant: "no write is dispatched while an abandoned one may be alive",
    found: "EPOCH-8: write 1 was dispatched while 0 may be alive",
    calls: ["write k"],
    next: ["write k"],
    parts: {
      lanes: {
        ...REAL_PARTS.lanes,
        holdLanes: (lanes, call, { nowMs }) => REAL_PARTS.lanes.leaveLanes(lanes, call, nowMs),
      },
    },
  },
  {
    invariant: "nothing is dispatched after a cancellation",
    found: "CAN-1: call 1 was dispatched after the cancellation",
    calls: ["write", "write"],
    mode: "safeParallel",
    parts: { ...withChart("batch", "an epoch starts after the cancellation"), mayLaunch: () => true },
  },
  {
    invariant: "a cancellation leaves nothing waiting",
    found: "CAN-1: call 1 waits though all is cancelled",
    calls: ["write k", "write k"],
    parts: withChart("call", "CANCEL is dropped while a call waits for its lane"),
  },
  {
    invariant: "a call has one result",
    found: "CAN-4: call 0 settled 2 times",
    calls: ["read"],
    parts: withChart("call", "a call settles twice"),
  },
  {
    invariant: "every call has a result",
    found: "CAN-4: call 1 has 0 results",
    calls: ["write", "write"],
    mode: "safeParallel",
    parts: withChart("batch", "the last epoch is left out"),
  },
  {
    invariant: "a blocked call does not wait",
    found: "UNC-5: call 1 waits though it is blocked",
    calls: ["write k", "write k", "read"],
    cap: 3,
    parts: withChart("call", "a blocked call stays in line"),
  },
  {
    invariant: "no slot is idle while a call is startable",
    found: "EPOCH-5: call 2 could start and a slot is free",
    calls: ["read", "read", "read"],
    parts: withChart("epoch", "a slot that falls free is not used"),
  },
  {
    invariant: "nothing waits for ever",
    found: "CAN-4: nothing runs and the batch is not over",
    calls: ["write k", "write k"],
    parts: { lanes: { ...REAL_PARTS.lanes, leaveLanes: () => [] } },
  },
];

/** A chart with one of the planted bugs. */
function withChart(part: keyof typeof CHARTS, name: string): Partial<SchedulerParts> {
  const bug = CHART_BUGS.find((each) => each.name === name);
  if (bug === undefined) throw new Error(`there is no bug "${name}"`);
  const [exported, machine] = CHARTS[part];
  const altered = bug.module.alter({ [exported]: machine })[exported] as typeof machine; // still that chart
  return { [part]: compileChart(altered) };
}

describe("an exploration finds by its rule that", () => {
  it.each(FAULTS.map((fault) => [fault.invariant, fault] as const))("%s", (_name, fault) => {
    const scope = scopeOf(fault);
    expect(explore({ ...REAL_PARTS, ...fault.parts }, scope).fault).toMatch(
      new RegExp(`^${fault.found}\n    .*in ${describeScope(scope)}$`, "s"),
    );
    expect(explore(REAL_PARTS, scope).fault).toBeUndefined();
  });
});

function scopeOf({ calls, next, mode = "parallel", cap = 2 }: Fault): Scope {
  const batches = next === undefined ? [calls] : [calls, next];
  return { batches: batches.map((names) => names.map(kindOf)), mode, cap };
}

function kindOf(name: string): CallKind {
  const kind = KINDS.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind;
}
