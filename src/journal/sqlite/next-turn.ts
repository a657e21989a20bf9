import { setImmediate as queueTurn } from "node:timers";

/** Runs a task in the next turn of the event loop, when all that promises alone can reach has happened. */
export function inNextTurn(task: () => void): void {
  queueTurn(task);
}
