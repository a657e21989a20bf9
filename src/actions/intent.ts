import stableStringify from "fast-json-stable-stringify";
import type { GameActionInput, GameActionIntent } from "../domain/action.ts";
import { mustBeRecord, readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { ConflictScope } from "../domain/journal.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { keyFault, MAX_CONFLICT_KEYS, MAX_KEY_UNITS, nameFault } from "../domain/names.ts";
import { hashParts } from "./hash-parts.ts";
import { copyPlainJson } from "./plain-json.ts";

/** An intent that can be written down, and what the journal needs to know of it. */
export interface CheckedIntent {
  /** Deep-frozen; keys sorted and distinct. */
  readonly intent: GameActionIntent;
  readonly intentText: string;
  /** Over all that makes intents equal: not over revision and conflict keys (ACT-7). */
  readonly intentHash: string;
  /** Sorted by id. */
  readonly scopes: readonly ConflictScope[];
}

const MAX_INTENT_CHARACTERS = 1_048_576;

/**
 * Checks an intent before anything is written, and takes a frozen copy of it.
 * @throws KernelError `INVALID_OPTIONS` naming the field: an id or name of the wrong form (ACT-8), a key
 * against PREP-5, arguments that are not JSON, more than 1,048,576 characters in all.
 */
export function checkIntent(given: GameActionIntent): CheckedIntent {
  return readGiven("intent", () => readIntent(given));
}

function readIntent(given: GameActionIntent): CheckedIntent {
  if (mustBeRecord(given) !== undefined) refuse("intent", "is not an object");
  const { operationId, action, expectedRevision } = given;
  checkName("operationId", operationId);
  checkName("action", action);
  const input = checkInput(given);
  if (expectedRevision !== undefined && !Number.isFinite(expectedRevision))
    refuse("expectedRevision", "is not a finite number");
  const copied = copyPlainJson(given.arguments);
  if (!copied.ok) refuse("arguments", copied.fault);
  const intent: GameActionIntent = Object.freeze({
    operationId,
    action,
    arguments: copied.value as JsonObject, // what an action takes is the host's to say; the journal needs JSON
    ...input,
    conflictKeys: checkKeys(given.conflictKeys),
    ...(expectedRevision !== undefined && { expectedRevision }),
  });
  const intentText = JSON.stringify(intent);
  if (intentText.length > MAX_INTENT_CHARACTERS)
    refuse("arguments", `make the intent longer than ${MAX_INTENT_CHARACTERS} characters`);
  return { intent, intentText, intentHash: hashIntent(intent), scopes: scopesOf(intent) };
}

/**
 * Checks the player's input of an action and takes a frozen copy of it.
 * @throws KernelError `INVALID_OPTIONS` naming the field.
 */
export function checkInput(given: GameActionInput): GameActionInput {
  return readGiven("input", () => readInput(given));
}

function readInput(given: GameActionInput): GameActionInput {
  if (mustBeRecord(given) !== undefined) refuse("input", "is not an object");
  const { sessionId, actorId, inputId, moment, generationId } = given;
  checkName("sessionId", sessionId);
  checkName("actorId", actorId);
  checkName("inputId", inputId);
  checkName("moment.timelineId", moment?.timelineId);
  if (!Number.isFinite(moment.tick)) refuse("moment.tick", "is not a finite number");
  if (generationId !== undefined) checkName("generationId", generationId);
  return Object.freeze({
    sessionId,
    actorId,
    inputId,
    moment: Object.freeze({ timelineId: moment.timelineId, tick: moment.tick === 0 ? 0 : moment.tick }),
    ...(generationId !== undefined && { generationId }),
  });
}

function checkName(field: string, value: unknown): void {
  const fault = nameFault(value);
  if (fault !== undefined) refuse(field, fault);
}

function checkKeys(keys: readonly string[]): readonly string[] {
  if (!Array.isArray(keys)) refuse("conflictKeys", "is not an array");
  const distinct = [...new Set<string>(keys)].sort();
  if (distinct.length > MAX_CONFLICT_KEYS) refuse("conflictKeys", `names more than ${MAX_CONFLICT_KEYS} keys`);
  if (!distinct.every(isKey)) {
    refuse("conflictKeys", `holds a key that is empty, malformed, or longer than ${MAX_KEY_UNITS} units`);
  }
  return Object.freeze(distinct);
}

function isKey(key: unknown): boolean {
  return typeof key === "string" && key !== "" && keyFault(key) === undefined;
}

function hashIntent(intent: GameActionIntent): string {
  const { action, sessionId, actorId, inputId, moment, generationId } = intent;
  const canonical = stableStringify(intent.arguments as JsonValue);
  const parts = [action, canonical, sessionId, actorId, inputId, moment.timelineId, String(moment.tick)];
  return hashParts(generationId === undefined ? parts : [...parts, generationId]);
}

function scopesOf({ conflictKeys, moment, generationId }: GameActionIntent): readonly ConflictScope[] {
  const rest = generationId === undefined ? [moment.timelineId] : [moment.timelineId, generationId];
  return conflictKeys
    .map((key) => ({ id: hashParts([key, ...rest]), key }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

function refuse(field: string, fault: string): never {
  throw new KernelError("INVALID_OPTIONS", `The intent cannot be recorded: ${field} ${fault}.`, { subject: field });
}
