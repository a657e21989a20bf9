/**
 * Compiles a chart to a transition table, from the very machine object that XState would interpret.
 * Refused, by the state's name, is what the table cannot say: invoked or spawned actors, delayed and
 * eventless transitions, parallel and history states, wildcard events, and actions other than `assign`
 * and `emit`. Pure.
 */
import type { AnyStateMachine, EventObject, StateNode } from "xstate";

/** What guards, assigns and emits are called with. */
export interface TransitionScope {
  readonly context: object;
  readonly event: EventObject;
}

/** One action of a transition, resolved. */
export type CompiledAction =
  | { readonly kind: "assign"; readonly update: (scope: TransitionScope) => object }
  | {
      readonly kind: "emit";
      /** The event, where it is always the same. */
      readonly event: EventObject | undefined;
      readonly make: (scope: TransitionScope) => EventObject;
    };

/** One transition: taken when its guard holds. */
export interface CompiledTransition {
  readonly guard: ((scope: TransitionScope) => boolean) | undefined;
  readonly target: ChartRow;
  /** Exit, transition and entry actions, in that order. */
  readonly actions: readonly CompiledAction[];
}

/** One atomic state. `value` is XState's state value, one object for all actors. */
export interface ChartRow {
  readonly value: string | object;
  readonly isFinal: boolean;
  readonly tags: ReadonlySet<string>;
  /** Candidates by event type, innermost state first; the first whose guard holds is taken. */
  readonly on: ReadonlyMap<string, readonly CompiledTransition[]>;
}

/** A chart as a table. */
export interface ChartTable {
  readonly id: string;
  readonly initial: ChartRow;
  /** Actions of entering the initial state. */
  readonly initialActions: readonly CompiledAction[];
  readonly createContext: (input: unknown) => object;
  readonly createOutput: ((scope: TransitionScope) => unknown) | undefined;
  /** Every atomic state, in the order of the chart. */
  readonly rows: readonly ChartRow[];
}

type Node = StateNode<never, never>;
type Draft = { -readonly [Field in keyof ChartRow]: ChartRow[Field] } & {
  readonly on: Map<string, CompiledTransition[]>;
};

/**
 * Compiles a chart.
 * @throws TypeError naming the state, and what in it cannot be compiled.
 */
export function compileChart(machine: AnyStateMachine): ChartTable {
  const nodes = collectNodes(machine.root as unknown as Node);
  const atomic = nodes.filter((node) => node.type !== "compound");
  const drafts = new Map<Node, Draft>(atomic.map((node) => [node, draftRow(node)]));
  for (const [node, draft] of drafts) {
    for (const source of pathUp(node)) {
      for (const [eventType, transitions] of source.transitions) {
        const compiled = transitions.map((transition) =>
          compileTransition(machine, drafts, { node, source, transition }),
        );
        draft.on.set(eventType, [...(draft.on.get(eventType) ?? []), ...compiled]);
      }
    }
  }
  const start = leafOf(machine.root as unknown as Node);
  const { output } = machine.config as { output?: unknown };
  return {
    id: machine.id,
    initial: rowOf(drafts, start),
    initialActions: pathUp(start)
      .reverse()
      .flatMap((node) => node.entry.map((action) => compileAction(machine, node, action))),
    createContext: contextFactory(machine),
    createOutput: output === undefined ? undefined : callOrGive(output),
    rows: [...drafts.values()],
  };
}

function collectNodes(root: Node): Node[] {
  refuseForms(root);
  return [root, ...Object.values(root.states as Record<string, Node>).flatMap(collectNodes)];
}

function refuseForms(node: Node): void {
  const forms: readonly (readonly [boolean, string])[] = [
    [node.type === "parallel", "parallel regions"],
    [node.type === "history", "a history state"],
    [node.invoke.length > 0, "an invoked actor"],
    [node.after.length > 0, "a delayed transition"],
    [(node.always?.length ?? 0) > 0, "an eventless transition"],
    [[...node.transitions.keys()].some((type) => type.includes("*")), "a wildcard event"],
    [
      [...node.transitions.keys()].some((type) => type.startsWith("xstate.")),
      "a transition on one of XState's own events",
    ],
  ];
  const found = forms.find(([isThere]) => isThere);
  if (found !== undefined) throw cannotCompile(node, found[1]);
}

function draftRow(node: Node): Draft {
  const tags = new Set(pathUp(node).flatMap((inner) => inner.tags));
  return {
    value: stateValueOf(node),
    isFinal: node.type === "final" && node.parent?.parent === undefined,
    tags,
    on: new Map(),
  };
}

interface TransitionPlace {
  /** The atomic state that is left. */
  readonly node: Node;
  /** The state that has the transition. */
  readonly source: Node;
  readonly transition: Node["transitions"] extends Map<string, (infer Transition)[]> ? Transition : never;
}

function compileTransition(
  machine: AnyStateMachine,
  drafts: Map<Node, Draft>,
  place: TransitionPlace,
): CompiledTransition {
  const { node, source, transition } = place;
  const actions = (owner: Node, list: readonly unknown[]) =>
    list.map((action) => compileAction(machine, owner, action));
  const guard = compileGuard(machine, source, transition.guard);
  const target = transition.target?.[0] as Node | undefined;
  if (target === undefined) return { guard, target: rowOf(drafts, node), actions: actions(source, transition.actions) };
  const domain = domainOf(source, target, transition.reenter);
  const leaf = leafOf(target);
  const exited = pathUp(node).filter((inner) => isBelow(inner, domain));
  const entered = pathUp(leaf)
    .filter((inner) => isBelow(inner, domain))
    .reverse();
  return {
    guard,
    target: rowOf(drafts, leaf),
    actions: [
      ...exited.flatMap((inner) => actions(inner, inner.exit)),
      ...actions(source, transition.actions),
      ...entered.flatMap((inner) => actions(inner, inner.entry)),
    ],
  };
}

/** The innermost state that a transition does not leave. */
function domainOf(source: Node, target: Node, reenter: boolean): Node {
  if (!reenter && source.type === "compound" && (target === source || isBelow(target, source))) return source;
  for (let node = source.parent as Node | undefined; node !== undefined; node = node.parent as Node | undefined) {
    if (target !== node && isBelow(target, node)) return node;
  }
  return pathUp(source).at(-1) ?? source;
}

function compileGuard(machine: AnyStateMachine, node: Node, guard: unknown): CompiledTransition["guard"] {
  if (guard === undefined) return undefined;
  const name = nameOf(guard);
  const implementation: unknown = name === undefined ? guard : machine.implementations.guards[name];
  if (typeof implementation !== "function") throw cannotCompile(node, `a guard without an implementation (${name})`);
  return (scope) => implementation(scope, undefined) === true;
}

function compileAction(machine: AnyStateMachine, node: Node, action: unknown): CompiledAction {
  const name = nameOf(action);
  const implementation: unknown = name === undefined ? action : machine.implementations.actions[name];
  const built = implementation as { type?: unknown; assignment?: unknown; event?: unknown } | undefined;
  if (built?.type === "xstate.assign") return { kind: "assign", update: compileAssignment(built.assignment) };
  if (built?.type === "xstate.emit") return compileEmit(built.event);
  throw cannotCompile(node, `an action other than assign and emit (${name ?? "inline"})`);
}

/** An emitted event is made by a function, or given as it is. */
function compileEmit(given: unknown): CompiledAction {
  const make = callOrGive(given) as (scope: TransitionScope) => EventObject; // what `emit` was called with
  return { kind: "emit", event: typeof given === "function" ? undefined : (given as EventObject), make };
}

function compileAssignment(assignment: unknown): (scope: TransitionScope) => object {
  if (typeof assignment === "function") return (scope) => ({ ...scope.context, ...assignment(scope, undefined) });
  const fields = Object.entries(assignment as object).map(([field, value]) => [field, callOrGive(value)] as const);
  return (scope) => {
    const context: Record<string, unknown> = { ...scope.context };
    for (const [field, give] of fields) context[field] = give(scope);
    return context;
  };
}

function contextFactory(machine: AnyStateMachine): (input: unknown) => object {
  const { context } = machine.config as { context?: unknown };
  if (typeof context === "function") return (input) => context({ input });
  return () => ({ ...(context as object | undefined) });
}

function callOrGive(value: unknown): (scope: TransitionScope) => unknown {
  return typeof value === "function" ? (scope) => value(scope, undefined) : () => value;
}

function nameOf(reference: unknown): string | undefined {
  if (typeof reference === "string") return reference;
  const { type, params } = reference as { type?: unknown; params?: unknown };
  if (params !== undefined) throw new TypeError(`Cannot compile ${String(type)}: it takes params.`);
  return typeof reference === "object" && typeof type === "string" ? type : undefined;
}

function rowOf(drafts: Map<Node, Draft>, node: Node): ChartRow {
  const row = drafts.get(node);
  if (row === undefined) throw cannotCompile(node, "a target that is not an atomic state");
  return row;
}

function leafOf(node: Node): Node {
  let leaf = node;
  while (leaf.type === "compound") leaf = leaf.initial.target[0] as Node;
  return leaf;
}

/** A state and all above it, innermost first. */
function pathUp(node: Node): Node[] {
  return node.parent === undefined ? [node] : [node, ...pathUp(node.parent as Node)];
}

function isBelow(node: Node, ancestor: Node): boolean {
  return pathUp(node).slice(1).includes(ancestor);
}

function stateValueOf(node: Node): string | object {
  const path = [...node.path];
  const last = path.pop() ?? "";
  return path.reduceRight<string | object>((value, key) => Object.freeze({ [key]: value }), last);
}

function cannotCompile(node: Node, what: string): TypeError {
  return new TypeError(`Cannot compile the chart: state ${node.id} has ${what}. Run it with interpreter "xstate".`);
}
