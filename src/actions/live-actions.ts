/**
 * The actions whose handler this dispatcher has called and not seen return.
 * Owns: what is known of them by operation id. Invariants: one entry per id, since the journal lets an id
 * be dispatched once (ACT-1); an entry stays until its handler has returned and its end is written.
 */
import type { GameActionIntent } from "../domain/action.ts";

/** One action whose handler is at work, or whose receipt is being saved. */
export interface LiveAction {
  /** As stored. */
  readonly intent: GameActionIntent;
  phase: "handling" | "saving" | "ending";
  /** Called when nobody waits for the handler any more (CAN-2). */
  readonly abandon: () => void;
  /** Settles when its uncertainty has been written, after it was abandoned. */
  readonly doubted: Promise<void>;
}

/** See the file header. */
export class LiveActions {
  readonly #actions = new Map<string, LiveAction>();

  /** Notes that a handler is about to be called. */
  add(operationId: string, action: LiveAction): void {
    this.#actions.set(operationId, action);
  }

  /** Forgets an action whose end is written. */
  remove(operationId: string): void {
    this.#actions.delete(operationId);
  }

  /** The action with this id, if it is alive here. */
  get(operationId: string): LiveAction | undefined {
    return this.#actions.get(operationId);
  }
}
