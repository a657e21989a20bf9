import type { StopReason } from "../../domain/call.ts";
import type { Delta } from "../../domain/event.ts";
import { copyFrozen, copyFrozenIfReadable } from "../../domain/frozen.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { AssistantPart, Usage } from "../../domain/message.ts";
import type { ModelResponse } from "../../domain/model.ts";
import { isStorable } from "../store/storable.ts";
import type { ModelAnswer } from "./request-model.ts";

const STOP_REASONS: readonly StopReason[] = ["stop", "toolUse", "length", "error", "aborted"];
const USAGE_FIELDS = ["inputTokens", "outputTokens", "totalTokens"] as const;

/**
 * Reads what a provider answered; anything of another shape is `invalidResponse`, with the place of the fault.
 * What it answered is copied and frozen: the transcript, hooks and every later request share it.
 */
export function readModelResponse(answer: unknown): ModelAnswer {
  try {
    return readShape(answer);
  } catch {
    return invalid("it cannot be read");
  }
}

/** Reads a streamed part; `undefined` for anything else, which listeners are not told of. */
export function readDelta(given: unknown): Delta | undefined {
  try {
    if (!isRecord(given)) return undefined;
    const { type, text, id, name, argumentsText } = given;
    if (type === "text" || type === "reasoning") return typeof text === "string" ? { type, text } : undefined;
    if (type !== "toolCall" || typeof id !== "string") return undefined;
    return {
      type,
      id,
      ...(typeof name === "string" && { name }),
      ...(typeof argumentsText === "string" && { argumentsText }),
    };
  } catch {
    return undefined;
  }
}

function readShape(answer: unknown): ModelAnswer {
  if (!isRecord(answer)) return invalid("it is not an object");
  const { content, stopReason, usage, errorMessage } = answer;
  if (!Array.isArray(content)) return invalid("content is not an array");
  const parts: AssistantPart[] = [];
  for (const [index, given] of content.entries()) {
    const part = readPart(given);
    if (part === undefined) return invalid(`content[${index}] is not a text, reasoning or toolCall part`);
    // It says nothing, and providers refuse it in the next request.
    if (part.type === "text" && part.text === "") continue;
    parts.push(Object.freeze(part)); // what it holds is frozen already
  }
  const stop = STOP_REASONS.find((known) => known === stopReason);
  if (stop === undefined) return invalid(`stopReason is not one of ${STOP_REASONS.join(", ")}`);
  if (usage !== undefined && !isUsage(usage)) return invalid("usage has no token counts");
  const response: ModelResponse = {
    content: parts,
    stopReason: stop,
    ...(usage !== undefined && { usage: copyFrozen(usage) }),
    ...(typeof errorMessage === "string" && { errorMessage }),
  };
  return { kind: "responded", response };
}

function readPart(given: unknown): AssistantPart | undefined {
  if (!isRecord(given)) return undefined;
  const providerData = isRecord(given.providerData) ? readProviderData(given.providerData) : {};
  if (given.type === "text" || given.type === "reasoning") {
    if (typeof given.text !== "string") return undefined;
    const text = given.text.toWellFormed();
    return given.type === "text" ? { type: "text", text } : { type: "reasoning", text, ...providerData };
  }
  if (given.type !== "toolCall" || typeof given.name !== "string") return undefined;
  const id = given.id ?? "";
  if (typeof id !== "string") return undefined;
  const draft = readDraft(given.arguments ?? "");
  return draft === undefined
    ? undefined
    : { type: "toolCall", id, name: given.name, arguments: draft, ...providerData };
}

/** It is opaque and echoed; where it is not JSON no transcript could hold it, and it is left out. */
function readProviderData(given: object): { readonly providerData?: never } {
  const copy = copyFrozenIfReadable(given);
  return isStorable(copy) ? { providerData: copy as never } : {};
}

/**
 * Arguments as the transcript keeps them: a string or an object, as they came. A value of another type becomes
 * its JSON text, so that only its own call is refused, in preparation (PREP-11). `undefined`, or a throw, for
 * what no wire can carry.
 */
function readDraft(given: unknown): string | JsonObject | undefined {
  if (typeof given === "string") return given;
  const text: string | undefined = JSON.stringify(given);
  // Whatever is in it, it has JSON text.
  return text === undefined || !isRecord(given) ? text : (copyFrozenIfReadable(given) as JsonObject);
}

function isUsage(usage: unknown): usage is Usage {
  return isRecord(usage) && USAGE_FIELDS.every((field) => isCount(usage[field]));
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(fault: string): ModelAnswer {
  const error = new Error(`The model provider returned a response of an unknown form: ${fault}.`);
  return { kind: "failed", endedBy: "invalidResponse", error };
}
