/**
 * Runs the paths of a chart against the real kernel, and compares what is seen with the chart after every
 * step. A fact that the kernel's own work brings about is only waited for; any other is made to happen by a
 * real stimulus: a promise that is resolved, a deadline that is passed, a signal that fires, an answer.
 */
import {
  type ChartPath,
  type Fact,
  INERT_SCOPE,
  type PathStep,
  statesOf,
  transitionsOf,
  valueName,
} from "./chart-paths.ts";
import type { Seen } from "./chart-watch.ts";

/** The real kernel, set up for one path. */
export interface PathSystem {
  /** What the actor of the path's chart has been told so far, its start first. */
  seen(): readonly Seen[];
  /** Makes the next fact of the path happen; not called if the kernel has told it by itself. */
  stimulate(fact: Fact, step: PathStep): void | Promise<void>;
  /** Lets everything happen that needs no further stimulus and no time. */
  settle(): Promise<void>;
  /** Checks, beside the chart's state, what can be observed after a step; throws what is wrong. */
  observe?(step: PathStep): void | Promise<void>;
  /** Brings everything to its end, and checks it; throws what is wrong. */
  finish(): Promise<void>;
}

/** Sets the kernel up for a path. */
export type OpenSystem = (path: ChartPath) => Promise<PathSystem>;

/** What running a set of paths came to. */
export interface PathReport {
  readonly paths: number;
  /** One line per path that was not followed, with the reason. */
  readonly failures: readonly string[];
  /** How often each transition was taken by a path that was followed. */
  readonly transitions: ReadonlyMap<string, number>;
  readonly states: ReadonlySet<string>;
}

const MOST_SHOWN = 5;

/** Runs paths one after another. `stopAtFirst`: ends with the first failure. */
export async function runPaths(
  paths: readonly ChartPath[],
  open: OpenSystem,
  { stopAtFirst = false }: { readonly stopAtFirst?: boolean } = {},
): Promise<PathReport> {
  const failures: string[] = [];
  const transitions = new Map<string, number>();
  const states = new Set<string>();
  for (const path of paths) {
    const failure = await followPath(path, open);
    if (failure !== undefined) {
      failures.push(`${path.name}\n    ${failure}`);
      if (stopAtFirst) break;
      continue;
    }
    states.add(valueName(path.start.value));
    for (const { transition, chart } of path.steps) {
      transitions.set(transition, (transitions.get(transition) ?? 0) + 1);
      states.add(valueName(chart.value));
    }
  }
  return { paths: paths.length, failures, transitions, states };
}

/** What is wrong with a report: paths that were not followed, or states and transitions that none of them reached. */
export function faultsOf(report: PathReport, machine: ChartPath["model"]["machine"]): string[] {
  const missedStates = statesOf(machine).filter((state) => !report.states.has(state));
  const missed = transitionsOf(machine).filter((transition) => !report.transitions.has(transition));
  return [
    ...(report.paths === 0 ? ["there are no paths"] : []),
    ...report.failures.slice(0, MOST_SHOWN),
    ...(report.failures.length > MOST_SHOWN ? [`and ${report.failures.length - MOST_SHOWN} more paths`] : []),
    ...missedStates.map((state) => `state never reached: ${state}`),
    ...missed.map((transition) => `transition never taken: ${transition}`),
  ];
}

/** Several reports as one. */
export function joinReports(reports: readonly PathReport[]): PathReport {
  const transitions = new Map<string, number>();
  for (const report of reports)
    for (const [name, count] of report.transitions) transitions.set(name, (transitions.get(name) ?? 0) + count);
  return {
    paths: reports.reduce((sum, { paths }) => sum + paths, 0),
    failures: reports.flatMap(({ failures }) => failures),
    transitions,
    states: new Set(reports.flatMap(({ states }) => [...states])),
  };
}

/** Why a path was not followed; undefined when it was. */
async function followPath(path: ChartPath, open: OpenSystem): Promise<string | undefined> {
  let where = "at its start";
  try {
    const system = await open(path);
    let failure: unknown;
    try {
      await system.settle();
      for (const [place, step] of path.steps.entries()) {
        where = `at step ${place + 1}, ${step.fact.type}`;
        if (seenTaken(path, system).length <= place + 1) await system.stimulate(step.fact, step);
        await system.settle();
        compareStep(step, seenTaken(path, system)[place + 1]);
        await system.observe?.(step);
      }
      where = "after its last step";
    } catch (error) {
      failure = error;
    }
    try {
      await system.finish();
      if (failure === undefined) replay(path, system.seen());
    } catch (error) {
      failure ??= error;
    }
    if (failure !== undefined) throw failure;
    return undefined;
  } catch (error) {
    return `${where}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** What an actor has been told, without what the chart says it pays no heed to. */
function seenTaken({ model, start }: ChartPath, system: PathSystem): Seen[] {
  let chart = start;
  return system.seen().filter(({ fact }, place) => {
    if (place === 0) return true;
    if (chart.status !== "active" || !chart.can(fact)) return false;
    chart = model.machine.transition(chart, fact, INERT_SCOPE) as typeof chart;
    return true;
  });
}

function compareStep({ fact, chart }: PathStep, seen: Seen | undefined): void {
  const wanted = describe(fact, chart.value, chart.context);
  const found = seen === undefined ? "nothing" : describe(asTold(seen.fact, fact), seen.value, seen.context);
  if (wanted !== found) throw new Error(`the chart says ${wanted}; the kernel showed ${found}`);
}

/** A fact as the kernel told it, with the fields that the chart's own has; what more it carries no guard looks at. */
function asTold(seen: Fact, wanted: Fact): Fact {
  return Object.fromEntries(Object.keys(wanted).map((field) => [field, seen[field]])) as Fact; // it has a type
}

function describe(fact: Fact, value: unknown, context: unknown): string {
  return `${JSON.stringify(fact)} leads to ${valueName(value)} with ${JSON.stringify(context)}`;
}

/** Holds everything that an actor has shown, also behind the path's end, to the chart. */
function replay({ model, start }: ChartPath, seen: readonly Seen[]): void {
  let chart = start;
  for (const [place, { fact, value, context }] of seen.entries()) {
    if (place > 0 && chart.status === "active") {
      chart = model.machine.transition(chart, fact, INERT_SCOPE) as typeof chart;
    }
    const [wanted, found] = [describe(fact, chart.value, chart.context), describe(fact, value, context)];
    if (wanted !== found) throw new Error(`the chart says ${wanted}; the kernel showed ${found}`);
  }
}
