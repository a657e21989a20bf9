import type { GameActionReceipt } from "../../src/domain/action.ts";
import type { ChildOrders } from "./crash-child.ts";
import { buildProgram, type Program, spawnProgram } from "./spawn-program.ts";

/** A line that a child says. */
export interface Said {
  readonly ready?: true;
  readonly begun?: string;
  readonly operationId?: string;
  readonly disposition?: string;
  readonly receipt?: GameActionReceipt;
}

/** A process that dispatches actions. */
export interface Child extends Program<Said> {
  start(): void;
}

/** Builds the child's program once per test process. */
export function buildChild(): void {
  buildProgram("crash-child");
}

/** Starts a process; with a command before it, such as a tracer, that is run around it. */
export function spawnChild(orders: ChildOrders, around: readonly string[] = []): Child {
  const program = spawnProgram<Said>({ name: "crash-child", orders, around });
  return { ...program, start: () => program.tell("go") };
}
