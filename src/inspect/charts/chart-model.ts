import type { AnyStateMachine } from "xstate";

/** One transition, by the names of its parts. */
export interface ChartTransition {
  readonly event: string;
  /** The guard's name; `else` for the last of several that has none; absent where nothing is asked. */
  readonly guard?: string;
  /** Its place among the alternatives of its event, first 1. */
  readonly place: number;
  /** How many alternatives its event has in that state. */
  readonly alternatives: number;
  readonly actions: readonly string[];
}

/** All transitions that lead from one state to another, in the order in which they are tried. */
export interface ChartEdge {
  readonly from: string;
  readonly to: string;
  readonly transitions: readonly ChartTransition[];
}

/** One state of a chart. `id` is XState's own, such as `toolCall.preparing.lookup`. */
export interface ChartState {
  readonly id: string;
  readonly key: string;
  readonly kind: "compound" | "atomic" | "final";
  /** Absent for the chart itself. */
  readonly parent?: string;
  /** The state a compound state begins in. */
  readonly initial?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  /** Transitions that leave no state. */
  readonly internal: readonly ChartTransition[];
}

/** A chart as pictures show it: read from the machine object, nothing added. */
export interface ChartModel {
  readonly id: string;
  /** The chart itself first, parents before their children, in the order of the chart. */
  readonly states: readonly ChartState[];
  readonly edges: readonly ChartEdge[];
}

/** The parts of XState's state node that a picture needs. */
type StateNode = AnyStateMachine["root"];

/** Reads a machine object. **throws** nothing; a chart with parallel regions or two targets is not of ours. */
export function readChart(machine: AnyStateMachine): ChartModel {
  const nodes = withDescendants(machine.root);
  return { id: machine.id, states: nodes.map(stateOf), edges: nodes.flatMap(edgesOf) };
}

/** The states directly in a state. */
export function childrenOf(chart: ChartModel, id: string): readonly ChartState[] {
  return chart.states.filter(({ parent }) => parent === id);
}

/** A guard as it is shown: in brackets, with its place where more than two are tried in turn. */
export function guardText({ guard, place, alternatives }: ChartTransition): string {
  if (guard === undefined) return "";
  return alternatives > 2 ? `[${place}. ${guard}]` : `[${guard}]`;
}

/** A transition as one line: `EVENT [guard] / action, action`. */
export function transitionText(transition: ChartTransition): string {
  const guard = guardText(transition);
  const actions = transition.actions.length === 0 ? "" : ` / ${transition.actions.join(", ")}`;
  return `${transition.event}${guard === "" ? "" : ` ${guard}`}${actions}`;
}

function withDescendants(node: StateNode): readonly StateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => withDescendants(child as StateNode))]; // children are state nodes too
}

function stateOf(node: StateNode): ChartState {
  const initial = node.type === "compound" ? node.initial?.target?.[0]?.id : undefined;
  return {
    id: node.id,
    key: node.key,
    kind: node.type === "final" ? "final" : node.type === "compound" ? "compound" : "atomic",
    ...(node.parent !== undefined && { parent: node.parent.id }),
    ...(initial !== undefined && { initial }),
    ...(node.description !== undefined && { description: node.description }),
    tags: node.tags,
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    internal: outgoing(node)
      .filter(({ target }) => target === undefined)
      .map(({ transition }) => transition),
  };
}

function edgesOf(node: StateNode): readonly ChartEdge[] {
  const byTarget = new Map<string, ChartTransition[]>();
  for (const { target, transition } of outgoing(node)) {
    if (target === undefined) continue;
    byTarget.set(target, [...(byTarget.get(target) ?? []), transition]);
  }
  return [...byTarget].map(([to, transitions]) => ({ from: node.id, to, transitions }));
}

interface Outgoing {
  readonly target: string | undefined;
  readonly transition: ChartTransition;
}

function outgoing(node: StateNode): readonly Outgoing[] {
  return [...node.transitions].flatMap(([event, alternatives]) =>
    alternatives.map(({ target, guard, actions }, index) => {
      const asked = guard !== undefined ? nameOf(guard) : alternatives.length > 1 ? "else" : undefined;
      return {
        target: target?.[0]?.id,
        transition: {
          event,
          ...(asked !== undefined && { guard: asked }),
          place: index + 1,
          alternatives: alternatives.length,
          actions: actions.map(nameOf),
        },
      };
    }),
  );
}

/** Guards and actions stand in the charts by name; XState keeps them as names or as objects with a type. */
function nameOf(part: unknown): string {
  return typeof part === "string" ? part : String((part as { readonly type?: unknown }).type);
}
