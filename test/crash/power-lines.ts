/** What the process of the tests of power cuts is told, what it says, and the actions it dispatches. */
import type { GameActionIntent, GameActionReceipt } from "../../src/domain/action.ts";

/** What a process is told to do. */
export interface PowerOrders {
  readonly path: string;
  readonly sessions: number;
  /** Actions of each session; every sixth is left under way. */
  readonly actions: number;
  /** Whether there is a file of the oldest schema, with some entries, before the first session. */
  readonly beginsOld?: boolean;
  /** Whether the file is moved to another store in the end; nothing may be open then. */
  readonly moves?: boolean;
  /** A setting of the connections in place of the journal's own: pages after which the log is checkpointed. */
  readonly checkpointEvery?: number;
  /** A setting that loses what was acknowledged: commits that are not synced. */
  readonly isWeakened?: boolean;
}

/** A line that it says. */
export type PowerSaid =
  /** The handler was called: the world has been touched. */
  | { readonly begun: string; readonly key: string; readonly fence: number }
  /** A receipt was given to the caller. */
  | { readonly receipt: GameActionReceipt }
  /** Receipts of before may be forgotten from now on, or all of them are. */
  | { readonly prune: "begun" | "done" }
  /** The file was moved to another store. */
  | { readonly moved: true }
  /** So many facts of a run are acknowledged. */
  | { readonly run: string; readonly facts: number };

/** Where an action stands in its session. */
export function placeOf(operationId: string): number {
  return Number(operationId.split("-").at(-1));
}

/** The intent of an action; those of one session use the same few keys, some of them two. */
export function powerIntent(operationId: string): GameActionIntent {
  const place = placeOf(operationId);
  const session = operationId.split("-")[1] ?? "";
  const keys = place % 4 === 0 ? [] : [`key-${session}-${place % 5}`, ...(place % 7 === 1 ? ["shared"] : [])];
  return {
    operationId,
    action: "write",
    arguments: { text: "x".repeat(40 * (place % 5)) },
    sessionId: "session",
    actorId: "actor",
    inputId: operationId,
    moment: { timelineId: "main", tick: 1 },
    conflictKeys: keys,
  };
}
