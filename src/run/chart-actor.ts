/**
 * The one place where a chart becomes an actor.
 * Every run, batch, epoch and tool call is started here, on the interpreter that the session chose.
 */
import {
  type AnyActorRef,
  type AnyStateMachine,
  createActor,
  type EmittedFrom,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
} from "xstate";
import type { Inspect } from "../domain/ports.ts";
import { ignoreRejection } from "../domain/promise-like.ts";
import { CompiledActor, type EffectPerformer } from "../interpreter/compiled-actor.ts";
import type { Chart } from "./charts.ts";

/**
 * Which interpreter runs the charts: actors over tables compiled from them, or XState's own. Both obey the
 * same machine objects and show the same from outside.
 */
export type Interpreter = "compiled" | "xstate";

/** An actor of a chart, as its driver holds it. */
export interface ChartActor<Machine extends AnyStateMachine = AnyStateMachine> {
  /** Tells it a fact; once it is done nothing comes of it. */
  send(event: EventFromLogic<Machine>): void;
  getSnapshot(): SnapshotFrom<Machine>;
  /** The state value. */
  readonly value: unknown;
  /** XState's own actor, where it is one. */
  readonly ref: AnyActorRef | undefined;
}

/** What an actor is driven by. */
export interface ChartDriver<Emitted> {
  /** Does what the chart asks for; told of every effect, in order. */
  perform(emitted: Emitted): void;
  /** Told if the actor itself breaks, which no chart here should ever do. */
  fault(error: unknown): void;
}

/** What an actor is started with. */
export interface ChartOptions<Machine extends AnyStateMachine> {
  readonly interpreter: Interpreter;
  readonly id: string;
  readonly input: InputFrom<Machine>;
  /** The actor above; without one this is a root, and `inspect` sees it and all below. */
  readonly parent?: ChartActor | undefined;
  readonly inspect?: Inspect | undefined;
  readonly driver: ChartDriver<EmittedFrom<Machine>>;
}

/** Starts an actor of a chart. */
export function startChart<Machine extends AnyStateMachine>(
  chart: Chart<Machine>,
  options: ChartOptions<Machine>,
): ChartActor<Machine> {
  return options.interpreter === "compiled" ? startCompiled(chart, options) : startXState(chart, options);
}

/** Starts an actor that only shows a chart, to who inspects the actors above it; it drives nothing. */
export function startShownChart<Machine extends AnyStateMachine>(
  machine: Machine,
  { id, parent }: { readonly id: string; readonly parent: ChartActor },
): ChartActor<Machine> {
  const driver = { perform: () => undefined, fault: () => undefined };
  return startXState({ machine }, { interpreter: "xstate", id, parent, driver, input: undefined as never });
}

/**
 * Puts an actor below another one than it was started below: its end is told to its parent, and one that is
 * done already has no use for it, which XState says aloud.
 */
export function moveBelow({ ref }: ChartActor, parent: ChartActor): void {
  if (ref !== undefined && parent.ref !== undefined) ref._parent = parent.ref;
}

function startCompiled<Machine extends AnyStateMachine>(
  { table }: Chart<Machine>,
  { id, input, driver }: ChartOptions<Machine>,
): ChartActor<Machine> {
  const actor = new CompiledActor(table, { id, input, driver: driver as EffectPerformer });
  // The table comes from this very machine, so events, snapshots and what is emitted are of its types.
  return actor.start() as unknown as ChartActor<Machine>;
}

function startXState<Machine extends AnyStateMachine>(
  { machine }: Pick<Chart<Machine>, "machine">,
  { id, input, parent, inspect, driver }: ChartOptions<Machine>,
): ChartActor<Machine> {
  const ref = createActor(machine, {
    id,
    input,
    ...(parent !== undefined && { parent: parent.ref }),
    ...(inspect !== undefined && { inspect: guardInspect(inspect) }),
    // XState asks for `input` by a conditional type that it cannot resolve for a machine not known yet.
  } as never) as AnyActorRef & { start(): void };
  // The wildcard hands over every emitted event of this very machine.
  ref.on("*", guardEffects(driver as ChartDriver<unknown>));
  // Without an error observer XState rethrows an actor's error in a timer, which would end the process.
  ref.subscribe({ error: (error: unknown) => driver.fault(error) });
  ref.start();
  return {
    ref,
    get value(): unknown {
      return ref.getSnapshot().value;
    },
    // XState warns of events to an actor that is done; here a late fact is no fault.
    send: (event) => {
      if (ref.getSnapshot().status === "active") ref.send(event);
    },
    getSnapshot: () => ref.getSnapshot() as SnapshotFrom<Machine>,
  };
}

/** What a listener throws XState would rethrow in a timer, which would end the process. */
function guardEffects(driver: ChartDriver<unknown>) {
  return (emitted: unknown): void => {
    try {
      driver.perform(emitted);
    } catch (error) {
      driver.fault(error);
    }
  };
}

/** A throwing snapshot inspector would wedge an actor for ever. */
function guardInspect(inspect: Inspect): Inspect {
  return (inspectionEvent) => {
    try {
      ignoreRejection(inspect(inspectionEvent));
    } catch {
      // The host's inspector is its own affair.
    }
  };
}
