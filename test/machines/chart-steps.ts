import { type AnyStateMachine, type SnapshotFrom, type StateValue, transition } from "xstate";

/** Every fact that a tool call can be told. */
export const CALL_EVENTS = [
  ...["FOUND", "SHAPED", "VALID", "KEPT", "REWRITTEN", "REFINED", "KEYED", "ALLOWED", "ASKED", "REFUSED"],
  ...[
    "GRANTED",
    "DENIED",
    "CHECKED",
    "REPEATED",
    "PLANNED",
    "EPOCH_STARTED",
    "ADMITTED",
    "RECORDED",
    "BLOCKED",
    "SUCCEEDED",
  ],
  ...["FAILED", "LOST", "THREW", "TIMED_OUT", "CANCEL", "GRACE_OVER", "EXECUTOR_ENDED", "CONFIRMED", "DISPROVED"],
  ...["UNRESOLVED", "FINISHED"],
];

/** Where events lead and what they ask for, by their names; what is not named is not taken. */
export type Steps = Readonly<Record<string, string>>;

/** What the chart asks the driver for, in order. */
export function effectsOf(actions: readonly { readonly type: string; readonly params: unknown }[]): string[] {
  return actions
    .filter(({ type }) => type === "xstate.emit")
    .map(({ params }) => (params as { readonly event: { readonly type: string } }).event.type);
}

/** A state as `outer.inner`. */
export function nameOf(value: StateValue): string {
  return typeof value === "string"
    ? value
    : Object.entries(value)
        .map(([outer, inner]) => `${outer}.${String(inner)}`)
        .join();
}

/** Where an event leads and what it asks for, as `target [effects]`; `-` where the chart does not take it. */
export function stepOf<Machine extends AnyStateMachine>(
  machine: Machine,
  from: SnapshotFrom<Machine>,
  event: object,
): string {
  const [next, actions] = transition(machine, from, event as never);
  const effects = effectsOf(actions as never);
  const target = nameOf((next as { readonly value: StateValue }).value);
  const isSame = target === nameOf((from as { readonly value: StateValue }).value) && effects.length === 0;
  const hasMoved =
    JSON.stringify((next as { context: unknown }).context) !== JSON.stringify((from as { context: unknown }).context);
  if (isSame && !hasMoved) return "-";
  return effects.length === 0 ? target : `${target} [${effects.join()}]`;
}
