/**
 * The one place where a chart becomes an actor.
 * Every run, batch, epoch and tool call is started here, on the interpreter that the session chose.
 */
import {
  type Actor,
  type AnyActorRef,
  type AnyStateMachine,
  createActor,
  type EmittedFrom,
  type InputFrom,
} from "xstate";
import type { Inspect } from "../domain/ports.ts";

/** Which interpreter runs the charts. */
export type Interpreter = "xstate";

/** What an actor is started with. */
export interface ChartOptions<Machine extends AnyStateMachine> {
  readonly id: string;
  readonly input: InputFrom<Machine>;
  /** The actor above; without one this is a root, and `inspect` sees it and all below. */
  readonly parent?: AnyActorRef | undefined;
  readonly inspect?: Inspect | undefined;
  /** Told of every effect the chart asks for, in order. */
  readonly onEmitted: (emitted: EmittedFrom<Machine>) => void;
  /** Told if the actor itself breaks, which no chart here should ever do. */
  readonly onFault: (error: unknown) => void;
}

/** Starts an actor of a chart. */
export function startChart<Machine extends AnyStateMachine>(
  machine: Machine,
  options: ChartOptions<Machine>,
): Actor<Machine> {
  const { id, input, parent, inspect, onEmitted, onFault } = options;
  const actor = createActor(machine, {
    id,
    input,
    ...(parent !== undefined && { parent }),
    ...(inspect !== undefined && { inspect: guardInspect(inspect) }),
    // XState asks for `input` by a conditional type that it cannot resolve for a machine not known yet.
  } as never) as Actor<Machine>;
  actor.on("*", onEmitted as never); // the wildcard hands over every emitted event of this very machine
  // Without an error observer XState rethrows an actor's error in a timer, which would end the process.
  actor.subscribe({ error: onFault });
  actor.start();
  return actor;
}

/** A throwing snapshot inspector would wedge an actor for ever. */
function guardInspect(inspect: Inspect): Inspect {
  return (inspectionEvent) => {
    try {
      inspect(inspectionEvent);
    } catch {
      // The host's inspector is its own affair.
    }
  };
}
