import type { GameActionInput } from "../domain/action.ts";
import { hashParts } from "./hash-parts.ts";

/** What the default operation id is made of, beside the player's input (ACT-8). */
export interface OperationPlace {
  readonly input: GameActionInput;
  readonly turn: number;
  readonly callIndex: number;
  readonly action: string;
}

/**
 * The default operation id: a hash over where in which input the action stands, and not over its
 * arguments or the provider's call id, so that an input which runs again meets its own receipts (ACT-8).
 */
export function defaultOperationId({ input, turn, callIndex, action }: OperationPlace): string {
  const { sessionId, actorId, inputId, moment, generationId } = input;
  const parts = [
    sessionId,
    actorId,
    inputId,
    String(turn),
    String(callIndex),
    action,
    moment.timelineId,
    String(moment.tick),
  ];
  return hashParts(generationId === undefined ? parts : [...parts, generationId]);
}
