import { type ActionEvent, actionMachine } from "../../../machines/action.machine.ts";
import type { ActionWatch } from "../../domain/action.ts";
import { type ChartActor, startShownChart } from "../chart-actor.ts";
import type { CallRun } from "./run-call.ts";

/**
 * Shows the life of a call's durable action to who inspects: its chart is an actor below the call's, from its
 * first fact on. The dispatcher goes by the chart itself, with or without one; an action that was replayed has
 * no life here.
 */
export function watchAction({ actor: parent, owner, callIndex }: CallRun): ActionWatch {
  let shown: ChartActor<typeof actionMachine> | undefined;
  return (fact) => {
    shown ??= startShownChart(actionMachine, { id: `action:${owner.turn}:${callIndex}`, parent });
    // The dispatcher tells facts of this very chart.
    shown.send({ type: fact } as ActionEvent);
  };
}
