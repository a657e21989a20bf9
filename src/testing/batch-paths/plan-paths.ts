import type { CheckedPathsOptions, PathOutcome } from "./path-options.ts";
import { SeededChoices } from "./seeded-choices.ts";

/** What happens on a path. Calls are told by their places in the response. */
export interface PathPlan {
  readonly outcomes: readonly PathOutcome[];
  /** Of the calls that run, the one that stands first here is let go next. */
  readonly order: readonly number[];
  /** Whether bodies do their work when they are dispatched, all at once, or when they are let go, one by one. */
  readonly effects: "atDispatch" | "atEnd";
  /** After how many calls were let go the batch is cancelled; undefined: not at all. */
  readonly cancelAfter: number | undefined;
}

/**
 * The plans of all paths, or of as many as are wanted. If there are more, the first are those with one fault
 * or one cancellation and nothing else, the others are drawn by the seed; none comes twice.
 */
export function* planPaths(options: CheckedPathsOptions): Generator<PathPlan, void, undefined> {
  const whole = countPaths(options);
  if (whole <= options.maxPaths) {
    yield* allPlans(options);
    return;
  }
  const seen = new Set<string>();
  for (const plan of somePlans(options)) {
    if (seen.size === options.maxPaths) return;
    const key = JSON.stringify(plan);
    if (seen.has(key)) continue;
    seen.add(key);
    yield plan;
  }
}

/** A plan in words. */
export function namePlan({ outcomes, order, effects, cancelAfter }: PathPlan, callNames: readonly string[]): string {
  const calls = callNames.map((name, index) => `${name} ${outcomes[index]}`).join(", ");
  const ending = order.length > 1 ? `; in order ${order.map((index) => index + 1).join(" ")}` : "";
  const work = order.length > 1 ? `, ${effects === "atDispatch" ? "working at once" : "working in turn"}` : "";
  const cancelled = cancelAfter === undefined ? "" : `; cancelled after ${cancelAfter}`;
  return `${calls}${ending}${work}${cancelled}`;
}

/** How many paths there are; may be beyond what a number holds exactly, which only matters below that. */
function countPaths({ calls, outcomes, cancel }: CheckedPathsOptions): number {
  const size = calls.length;
  const orders = calls.reduce((product, _call, index) => product * (index + 1), 1);
  return outcomes.length ** size * orders * (size > 1 ? 2 : 1) * (cancel ? size + 2 : 1);
}

function* allPlans(options: CheckedPathsOptions): Generator<PathPlan, void, undefined> {
  const { calls } = options;
  for (const outcomes of combinations(options.outcomes, calls.length))
    for (const order of orders(calls.map((_call, index) => index)))
      for (const effects of effectsOf(options))
        for (const cancelAfter of cancellationsOf(options)) yield { outcomes, order, effects, cancelAfter };
}

/** Never ends; plans may come more than once. */
function* somePlans(options: CheckedPathsOptions): Generator<PathPlan, void, undefined> {
  const { calls, outcomes } = options;
  const [plain = "succeeds"] = outcomes;
  const order = calls.map((_call, index) => index);
  const base: PathPlan = { outcomes: calls.map(() => plain), order, effects: "atDispatch", cancelAfter: undefined };
  for (const effects of effectsOf(options))
    for (const cancelAfter of cancellationsOf(options)) yield { ...base, effects, cancelAfter };
  yield { ...base, order: [...order].reverse() };
  for (const index of order)
    for (const outcome of outcomes) yield { ...base, outcomes: base.outcomes.with(index, outcome) };
  const choices = new SeededChoices(options.seed);
  for (;;) {
    yield {
      outcomes: calls.map(() => choices.pick(outcomes)),
      order: choices.shuffle(order),
      effects: choices.pick(effectsOf(options)),
      cancelAfter: choices.pick(cancellationsOf(options)),
    };
  }
}

/** With one call there is nothing to be at work at once with. */
function effectsOf({ calls }: CheckedPathsOptions): readonly PathPlan["effects"][] {
  return calls.length > 1 ? ["atDispatch", "atEnd"] : ["atDispatch"];
}

function cancellationsOf({ calls, cancel }: CheckedPathsOptions): readonly (number | undefined)[] {
  return cancel ? [undefined, ...Array.from({ length: calls.length + 1 }, (_none, index) => index)] : [undefined];
}

function* combinations<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void, undefined> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const rest of combinations(items, size - 1)) for (const item of items) yield [...rest, item];
}

function* orders(places: readonly number[]): Generator<readonly number[], void, undefined> {
  if (places.length < 2) {
    yield places;
    return;
  }
  for (const first of places)
    for (const rest of orders(places.filter((index) => index !== first))) yield [first, ...rest];
}
