/**
 * Paths that cover every transition of a chart, made by `xstate/graph`, and the account of what they cover.
 *
 * The chart alone would also take facts that cannot come together (a second cancellation, a read that is
 * blocked). What the world around it remembers stands in a {@link ChartModel}'s `memory`, and `allows` says
 * what can happen then. A path's vertices are (target, event, source), so that paths cover transitions, not
 * merely states.
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createEmptyActor,
  type EventObject,
} from "xstate";
import { getShortestPaths } from "xstate/graph";

/** A fact with its payload. */
export type Fact = EventObject & Readonly<Record<string, unknown>>;

/** A chart in its world. `Memory` must be plain JSON. */
export interface ChartModel<Memory extends object = object> {
  /** Told in the name of every path. */
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly input: object;
  readonly facts: readonly Fact[];
  readonly memory: Memory;
  /** Whether the world can tell a fact now; the chart is asked besides. Default: always. */
  allows?(world: World<Memory>, fact: Fact): boolean;
  /** What the world remembers after a fact. Default: what it did before. */
  remember?(world: World<Memory>, fact: Fact): Memory;
  /** What of the chart's context still matters in its state, so that moments that differ in nothing else are one. Default: all. */
  mattering?(chart: AnyMachineSnapshot): unknown;
}

/** A moment: the chart, and what the world remembers. */
export interface World<Memory extends object = object> {
  readonly chart: AnyMachineSnapshot;
  readonly memory: Memory;
}

/** One step: the fact, where it led, and which transition of the chart it took. */
export interface PathStep {
  readonly fact: Fact;
  readonly chart: AnyMachineSnapshot;
  readonly transition: string;
}

/** One way through a chart, from its start. */
export interface ChartPath {
  readonly name: string;
  /** Differs from path to path of a model, from 0: where a fact can come about in several ways, it says in which. */
  readonly variant: number;
  readonly model: ChartModel;
  readonly start: AnyMachineSnapshot;
  readonly steps: readonly PathStep[];
}

type Node = World & { readonly status: string; readonly output: undefined; readonly error: undefined };

/** The scope that pure transitions of a chart are made in: an actor that does nothing, and that nobody hears. */
export const INERT_SCOPE = inertScope() as never;

/** Every path that is needed to take each possible step of a model at least once; none is the beginning of another. */
export function coveringPaths<Memory extends object>(model: ChartModel<Memory>): ChartPath[] {
  const { machine } = model;
  const logic = {
    getInitialSnapshot: (): Node =>
      nodeOf({ chart: machine.getInitialSnapshot(INERT_SCOPE, model.input), memory: model.memory }),
    transition: (node: Node, fact: Fact): Node => nodeOf(nextWorld(model, node as unknown as World<Memory>, fact)),
    getPersistedSnapshot: (node: Node) => node,
  };
  const keyOf = ({ chart, memory }: World): string =>
    JSON.stringify([chart.value, model.mattering?.(chart) ?? chart.context, memory]);
  const found = getShortestPaths(
    logic as never,
    {
      events: [...model.facts],
      filterEvents: (node: Node, fact: Fact) => isPossible(model, node as unknown as World<Memory>, fact),
      serializeState: (node: Node, fact: Fact | undefined, before: Node | undefined) =>
        before === undefined ? keyOf(node) : `${keyOf(node)} by ${JSON.stringify(fact)} from ${keyOf(before)}`,
    } as never,
  ) as unknown as readonly { readonly steps: readonly { readonly event: Fact; readonly state: Node }[] }[];
  const sequences = found.map(({ steps }) => steps.map(({ event, state }) => ({ fact: event, node: state })));
  return withoutBeginnings(sequences).map((sequence, variant) => readPath(model as ChartModel, sequence, variant));
}

/** The next moment of a model. */
export function nextWorld<Memory extends object>(
  model: ChartModel<Memory>,
  world: World<Memory>,
  fact: Fact,
): World<Memory> {
  const chart = model.machine.transition(world.chart, fact, INERT_SCOPE) as AnyMachineSnapshot;
  return { chart, memory: model.remember?.(world, fact) ?? world.memory };
}

/** Whether chart and world both let a fact come. */
export function isPossible<Memory extends object>(
  model: ChartModel<Memory>,
  world: World<Memory>,
  fact: Fact,
): boolean {
  return world.chart.status === "active" && world.chart.can(fact) && (model.allows?.(world, fact) ?? true);
}

/** The transition of a chart that a fact takes in a state, by its name; see {@link transitionsOf}. */
export function transitionTaken(machine: AnyStateMachine, chart: AnyMachineSnapshot, fact: Fact): string {
  const [taken] = machine.getTransitionData(chart as never, fact);
  if (taken === undefined) throw new Error(`${machine.id} takes no ${fact.type} in ${valueName(chart.value)}`);
  return nameTransition(machine, taken as unknown as NamedTransition);
}

/** Every transition that a chart declares, as `source -FACT[guard]-> target`. */
export function transitionsOf(machine: AnyStateMachine): string[] {
  return nodesOf(machine.root).flatMap((node) =>
    [...node.transitions.values()]
      .flat()
      .map((transition) => nameTransition(machine, transition as unknown as NamedTransition)),
  );
}

/** Every state of a chart in which a call, an epoch, ... can stand. */
export function statesOf(machine: AnyStateMachine): string[] {
  return nodesOf(machine.root)
    .filter(({ type }) => type === "atomic" || type === "final")
    .map(({ path }) => path.join("."));
}

/** A state value as one text: `preparing.lookup`. */
export function valueName(value: unknown): string {
  if (typeof value === "string") return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([outer, inner]) => `${outer}.${valueName(inner)}`)
    .join();
}

function inertScope(): object {
  const self = createEmptyActor();
  const nothing = (): undefined => undefined;
  return {
    self,
    system: self.system,
    id: "",
    sessionId: "",
    logger: nothing,
    defer: nothing,
    stopChild: nothing,
    emit: nothing,
    actionExecutor: nothing,
  };
}

interface NamedTransition {
  readonly source: AnyStateNode;
  readonly eventType: string;
  readonly guard: unknown;
  readonly target: readonly AnyStateNode[] | undefined;
}

function nameTransition(machine: AnyStateMachine, { source, eventType, guard, target }: NamedTransition): string {
  const local = (node: AnyStateNode): string => node.path.join(".") || machine.id;
  const condition = typeof guard === "string" ? `[${guard}]` : "";
  const lead = target?.[0] === undefined ? "(stays)" : local(target[0]);
  return `${local(source)} -${eventType}${condition}-> ${lead}`;
}

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((inner) => nodesOf(inner as AnyStateNode))];
}

function nodeOf(world: World): Node {
  return { ...world, status: world.chart.status, output: undefined, error: undefined };
}

interface Visit {
  readonly fact: Fact;
  readonly node: Node;
}

function withoutBeginnings(sequences: readonly (readonly Visit[])[]): (readonly Visit[])[] {
  const textOf = (sequence: readonly Visit[]): string =>
    sequence.map(({ fact }) => `${JSON.stringify(fact)}\n`).join("");
  const longestFirst = [...sequences].sort((one, other) => other.length - one.length);
  const beginnings = new Set<string>();
  return longestFirst.filter((sequence) => {
    const isNew = !beginnings.has(textOf(sequence));
    for (const place of isNew ? sequence.keys() : []) beginnings.add(textOf(sequence.slice(0, place + 1)));
    return isNew;
  });
}

/** Led anew from the start: where moments count as one, the graph's own steps may be of different pasts. */
function readPath(model: ChartModel, [first, ...rest]: readonly Visit[], variant: number): ChartPath {
  if (first === undefined) throw new Error("a path without a start");
  const start = first.node.chart;
  let world: World = first.node;
  const steps = rest.map(({ fact }): PathStep => {
    const transition = transitionTaken(model.machine, world.chart, fact);
    world = nextWorld(model, world, fact);
    return { fact, chart: world.chart, transition };
  });
  const told = steps.map(({ fact }) => factName(fact)).join(" ");
  return { name: `${model.name}: ${told}`, variant, model, start, steps };
}

function factName({ type, ...payload }: Fact): string {
  const fields = Object.entries(payload).filter(([, value]) => value !== false && value !== undefined);
  return fields.length === 0 ? type : `${type}(${fields.map(([name, value]) => `${name} ${value}`).join(", ")})`;
}
