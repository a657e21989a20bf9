import type { StopReason } from "../domain/call.ts";
import type { AssistantPart, Usage } from "../domain/message.ts";
import type { ModelResponse } from "../domain/model.ts";
import type { ModelAnswer } from "./request-model.ts";

const STOP_REASONS: readonly StopReason[] = ["stop", "toolUse", "length", "error", "aborted"];
const USAGE_FIELDS = ["inputTokens", "outputTokens", "totalTokens"] as const;

/** Reads what a provider answered; anything of another shape is `invalidResponse`, with the place of the fault. */
export function readModelResponse(answer: unknown): ModelAnswer {
  try {
    return readShape(answer);
  } catch {
    return invalid("it cannot be read");
  }
}

function readShape(answer: unknown): ModelAnswer {
  if (!isRecord(answer)) return invalid("it is no object");
  const { content, stopReason, usage, errorMessage } = answer;
  if (!Array.isArray(content)) return invalid("content is no list");
  const parts: AssistantPart[] = [];
  for (const [index, given] of content.entries()) {
    const part = readPart(given);
    if (part === undefined) return invalid(`content[${index}] is no text, reasoning or toolCall part`);
    parts.push(part);
  }
  const stop = STOP_REASONS.find((known) => known === stopReason);
  if (stop === undefined) return invalid(`stopReason is none of ${STOP_REASONS.join(", ")}`);
  if (usage !== undefined && !isUsage(usage)) return invalid("usage holds no token counts");
  const response: ModelResponse = {
    content: parts,
    stopReason: stop,
    ...(usage !== undefined && { usage }),
    ...(typeof errorMessage === "string" && { errorMessage }),
  };
  return { kind: "responded", response };
}

function readPart(given: unknown): AssistantPart | undefined {
  if (!isRecord(given)) return undefined;
  const providerData = isRecord(given.providerData) ? { providerData: given.providerData as never } : {}; // opaque, echoed
  if (given.type === "text") return typeof given.text === "string" ? { type: "text", text: given.text } : undefined;
  if (given.type === "reasoning") {
    return typeof given.text === "string" ? { type: "reasoning", text: given.text, ...providerData } : undefined;
  }
  if (given.type !== "toolCall" || typeof given.name !== "string") return undefined;
  const id = given.id ?? "";
  if (typeof id !== "string") return undefined;
  // What arguments really are is read when the call is prepared, so that a bad draft refuses one call only.
  const draft = (given.arguments ?? "") as string;
  return { type: "toolCall", id, name: given.name, arguments: draft, ...providerData };
}

function isUsage(usage: unknown): usage is Usage {
  return isRecord(usage) && USAGE_FIELDS.every((field) => Number.isFinite(usage[field]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(fault: string): ModelAnswer {
  const error = new Error(`The model provider gave a response of an unknown form: ${fault}.`);
  return { kind: "failed", endedBy: "invalidResponse", error };
}
