import { type AnyStateMachine, StateMachine } from "xstate";
import type { Finder, PlantedBug } from "./planted-bugs.ts";

type Config = { [key: string]: Config };

/** The bugs of the charts. */
export const CHART_BUGS: readonly PlantedBug[] = [
  inCall("CANCEL is dropped while a call waits for its lane", "CAN-1", ["call", "explored", "paired"], (states) => {
    delete on(states, "laneWaiting").CANCEL;
  }),
  inCall("CANCEL is dropped at the barrier", "CAN-1", ["call", "explored", "paired"], (states) => {
    delete on(states, "barrierWaiting").CANCEL;
  }),
  inCall("CANCEL is dropped while a person decides", "APP-4", ["call"], (states) => {
    delete on(states, "awaitingApproval").CANCEL;
  }),
  inCall("a timed-out write counts as failed", "CAN-2", ["call", "paired"], (states) => {
    on(states, "stopping").GRACE_OVER = value("finishing.failed");
  }),
  inCall("a write that throws counts as failed", "UNC-1", ["call", "paired"], (states) => {
    on(states, "running").THREW = value("finishing.failed");
  }),
  inCall("a read that throws is uncertain", "UNC-1", ["call", "explored", "paired"], (states) => {
    on(states, "running").THREW = value("finishing.uncertain");
  }),
  inCall("an answer within the grace does not count", "CAN-2", ["call", "paired"], (states) => {
    delete on(states, "stopping").SUCCEEDED;
  }),
  inCall("a call that was let in is cancelled without its executor being told", "CAN-1", ["call"], (states) => {
    on(states, "running").CANCEL = value({ target: "cancelled", actions: "noteCancelled" });
  }),
  inCall("nobody asks what became of a lost write", "UNC-7", ["call"], (states) => {
    on(states, "running").LOST = value([
      { guard: "isRead", target: "finishing.failed" },
      { target: "finishing.uncertain" },
    ]);
  }),
  inCall("a write is said not to have happened while it may still be alive", "UNC-7", ["call"], (states) => {
    on(states, "recovering").DISPROVED = value("finishing.failed");
  }),
  inCall("a repeat too many is run", "REP-5", ["call"], (states) => {
    on(states, "authorized").REPEATED = value("barrierWaiting");
  }),
  inCall("a denied call goes on", "APP-3", ["call"], (states) => {
    on(states, "awaitingApproval").DENIED = value("authorized");
  }),
  inCall("rewritten arguments are shown to the policy again", "PREP-1", ["call"], (states) => {
    on(states, "preparing", "validating").VALID = value("rewriting");
  }),
  inCall("the executor is called before its dispatch is durable", "RUN-6", ["call"], (states) => {
    on(states, "laneWaiting").ADMITTED = value("running");
  }),
  inCall("a call settles twice", "CAN-4", ["call", "explored"], (states) => {
    part(states, "finishing").entry = value(["finish", "announceSettled"]);
  }),
  inCall("a blocked call stays in line", "UNC-5", ["call", "explored", "paired"], (states) => {
    delete on(states, "laneWaiting").BLOCKED;
  }),
  inEpoch("an epoch is over when its first call is", "EPOCH-2", ["epoch", "explored", "paired"], (states) => {
    on(states, "running").CALL_SETTLED = value({ target: "settled", actions: "countSettled" });
  }),
  inEpoch("a slot that falls free is not used", "EPOCH-5", ["epoch", "explored", "paired"], (states) => {
    on(states, "running").CALL_SETTLED = value([
      { guard: "isLastCall", target: "settled", actions: "countSettled" },
      { actions: "countSettled" },
    ]);
  }),
  inEpoch("a lane that another session frees wakes nobody", "EPOCH-9", ["epoch"], (states) => {
    delete on(states, "running").LANE_FREED;
  }),
  inEpoch("a running epoch is not cancelled", "CAN-1", ["epoch", "explored", "paired"], (states) => {
    delete on(states, "running").CANCEL;
  }),
  inEpoch("a running epoch goes on without its store", "CAN-5", ["epoch"], (states) => {
    delete on(states, "running").HALT;
  }),
  inBatch("the second epoch starts with the first", "EPOCH-2", ["batch", "explored", "paired"], (states) => {
    on(states, "planning").PLANNED = value([
      { guard: "isSomethingPlanned", target: "runningEpoch", actions: ["notePlan", "startEpoch", "advanceEpoch"] },
      { target: "settled" },
    ]);
  }),
  inBatch("an epoch starts after the cancellation", "CAN-1", ["batch", "explored", "paired"], (states) => {
    on(states, "drainingEpoch").EPOCH_SETTLED = value([
      { guard: "hasNextEpoch", target: "runningEpoch", actions: "advanceEpoch" },
      { target: "cancelling" },
    ]);
  }),
  inBatch("nobody waits for approvals", "APP-1", ["batch"], (states) => {
    on(states, "preparing").PREPARED = value("checkingRepeats");
  }),
  inBatch("the last epoch is left out", "EPOCH-2", ["batch", "explored", "paired"], (states) => {
    on(states, "runningEpoch").EPOCH_SETTLED = value("settled");
  }),
  inBatch("nothing is refused whole", "PREP-9", ["batch"], (states) => {
    on(states, "preparing").REFUSE = value("checkingRepeats");
  }),
  inBatch("a batch goes on without its store", "CAN-5", ["batch"], (states) => {
    delete on(states, "runningEpoch").STORE_LOST;
  }),
  inRun("a projection that failed does not end the run", "PROJ-5", ["run"], (states) => {
    on(states, "closingTurn").TURN_OVER = value(listOf(on(states, "closingTurn").TURN_OVER).slice(1));
  }),
  inRun("steering wins over the host that wants to stop", "RUN-2", ["run"], (states) => {
    const list = listOf(on(states, "closingTurn").TURN_OVER);
    on(states, "closingTurn").TURN_OVER = value([
      ...list.slice(0, 3),
      ...list.slice(4, 5),
      ...list.slice(3, 4),
      ...list.slice(5),
    ]);
  }),
  inRun("an abort does not wait for the batch", "CAN-1", ["run"], (states) => {
    on(states, "executingBatch").CANCEL = value({ target: "aborted", actions: "noteAbort" });
  }),
  inRun("a model that fails is asked again", "RUN-1", ["run"], (states) => {
    on(states, "requestingModel").MODEL_FAILED = value("preparingTurn");
  }),
  inRun("a follow-up is forgotten", "RUN-3", ["run"], (states) => {
    const list = listOf(on(states, "closingTurn").TURN_OVER);
    on(states, "closingTurn").TURN_OVER = value(
      list.filter((each) => JSON.stringify(each).includes("hasFollowUp") === false),
    );
  }),
];

type Edit = (states: Config) => void;

function inCall(name: string, rule: string, foundBy: readonly Finder[], edit: Edit): PlantedBug {
  return inChart(["machines/tool-call.machine.ts", "toolCallMachine"], { name, rule, foundBy }, edit);
}

function inEpoch(name: string, rule: string, foundBy: readonly Finder[], edit: Edit): PlantedBug {
  return inChart(["machines/epoch.machine.ts", "epochMachine"], { name, rule, foundBy }, edit);
}

function inBatch(name: string, rule: string, foundBy: readonly Finder[], edit: Edit): PlantedBug {
  return inChart(["machines/batch.machine.ts", "batchMachine"], { name, rule, foundBy }, edit);
}

function inRun(name: string, rule: string, foundBy: readonly Finder[], edit: Edit): PlantedBug {
  return inChart(["machines/run.machine.ts", "runMachine"], { name, rule, foundBy }, edit);
}

function inChart(
  [path, exported]: readonly [string, string],
  told: Omit<PlantedBug, "module">,
  edit: Edit,
): PlantedBug {
  const alter = (original: Readonly<Record<string, unknown>>) => ({
    ...original,
    [exported]: alterChart(original[exported] as AnyStateMachine, edit), // the export of that name is that chart
  });
  return { ...told, module: { path, alter } };
}

/** The same chart with another configuration; guards and actions stay what they are. */
function alterChart(machine: AnyStateMachine, edit: Edit): AnyStateMachine {
  const config = copy(machine.config) as Config;
  edit(part(config, "states"));
  return new StateMachine(config as never, machine.implementations as never) as AnyStateMachine;
}

/** Functions stay the same, as the chart's context is made by one. */
function copy(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(copy);
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, copy(inner)]));
}

function part(config: Config, ...path: readonly string[]): Config {
  return path.reduce((inner, key) => {
    const next = inner[key];
    if (next === undefined) throw new Error(`the chart has no ${path.join(".")}`);
    return next;
  }, config);
}

/** The transitions of a state; a bug in a state that is not there would be no bug. */
function on(states: Config, ...path: readonly string[]): Config {
  const nested = path.flatMap((name, place) => (place === 0 ? [name] : ["states", name]));
  return part(states, ...nested, "on");
}

function value(given: unknown): Config {
  return given as Config; // any part of a chart's configuration
}

function listOf(transitions: Config | undefined): readonly unknown[] {
  if (!Array.isArray(transitions)) throw new Error("the chart has no such list of transitions");
  return transitions;
}
