import type { GameActionInput } from "../domain/action.ts";
import { hashParts } from "./hash-parts.ts";

/** Longest name in UTF-8 bytes: of operations, and of sessions, actors, inputs, actions and timelines. */
const MAX_NAME_BYTES = 512;

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

/** Why a value cannot be an id or a name in the journal, as the end of a sentence; undefined when it can (ACT-8). */
export function nameFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "is no string";
  if (value === "") return "is empty";
  if (!value.isWellFormed()) return "holds a lone surrogate";
  if (value.includes("\0")) return "holds a NUL character";
  // No text of that many units is shorter in bytes, so that a huge one is never encoded.
  if (value.length > MAX_NAME_BYTES || new TextEncoder().encode(value).length > MAX_NAME_BYTES) {
    return `is longer than ${MAX_NAME_BYTES} UTF-8 bytes`;
  }
  return undefined;
}
