import type { ToolCall } from "../../domain/call.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { AssistantPart, Usage } from "../../domain/message.ts";
import type { ModelResponse } from "../../domain/model.ts";
import { toBase64 } from "../import/foreign-content.ts";
import { isFields } from "../wire/draft-call.ts";
import type { WholeResponse } from "./join-stream.ts";
import type { ModelPart } from "./language-model.ts";
import { callsFromAiSdk, readFinishReason } from "./messages.ts";

type ToolCallPart = Extract<AssistantPart, { readonly type: "toolCall" }>;

/**
 * A language model's whole response as the kernel's. What the kernel has no part for (a tool that the
 * provider ran, a generated file, the provider's metadata of a text) is kept in an empty reasoning part,
 * so that {@link toPrompt} can lay it out again where it stood.
 *
 * `wasStreamed`: a stream without any reason for its end was cut, so it is an error (PREP-10).
 */
export function toModelResponse(response: WholeResponse, wasStreamed: boolean): ModelResponse {
  if (response.content.some((part) => part.type === "tool-approval-request")) {
    throw new Error("The provider asks for approval of a tool that it runs itself, which nobody here can give.");
  }
  const content = response.content.flatMap(readPart);
  const calls: readonly ToolCall[] = content.filter((part): part is ToolCallPart => part.type === "toolCall");
  const isCut = wasStreamed && isUnsaid(response.finishReason);
  const stopReason = isCut ? "error" : readFinishReason(readReason(response.finishReason), calls);
  const usage = readUsage(response.usage);
  return {
    content,
    stopReason,
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === "error" ? { errorMessage: tellReason(response.finishReason) } : {}),
  };
}

function readPart(part: ModelPart): readonly AssistantPart[] {
  switch (part.type) {
    case "text":
      return readText(part);
    case "reasoning":
      return [{ type: "reasoning", text: String(part.text), ...dataOf({ providerMetadata: part.providerMetadata }) }];
    case "tool-call":
      return part.providerExecuted === true ? [opaque(promptCall(part))] : readCall(part);
    case "tool-result":
      return part.preliminary === true ? [] : [opaque(promptResult(part))];
    case "file":
    case "reasoning-file":
    case "custom":
      return [opaque(promptFile(part))];
    default:
      // Sources are citations for the reader; the AI SDK does not send them back either.
      return [];
  }
}

function readText(part: ModelPart): readonly AssistantPart[] {
  const text: AssistantPart = { type: "text", text: String(part.text) };
  const { providerMetadata } = part;
  return isFields(providerMetadata)
    ? [{ type: "reasoning", text: "", ...dataOf({ nextText: providerMetadata }) }, text]
    : [text];
}

function readCall(part: ModelPart): readonly AssistantPart[] {
  return callsFromAiSdk({ content: [part] }).calls.map((call): AssistantPart => ({ type: "toolCall", ...call }));
}

function opaque(part: object): AssistantPart {
  return { type: "reasoning", text: "", ...dataOf({ part }) };
}

function promptCall({ toolCallId, toolName, input, providerMetadata }: ModelPart): object {
  const parsed: unknown = typeof input === "string" ? parseOr(input, {}) : input;
  return {
    type: "tool-call",
    toolCallId,
    toolName,
    input: parsed,
    providerExecuted: true,
    ...options(providerMetadata),
  };
}

function promptResult({ toolCallId, toolName, result, isError, providerMetadata }: ModelPart): object {
  const output = { type: isError === true ? "error-json" : "json", value: result };
  return { type: "tool-result", toolCallId, toolName, output, ...options(providerMetadata) };
}

function promptFile({ providerMetadata, data, ...part }: ModelPart): object {
  return { ...part, ...(data === undefined ? {} : { data: jsonData(data) }), ...options(providerMetadata) };
}

/** Bytes as base64, also within version 7's tagged form, since a transcript is JSON. */
function jsonData(data: unknown): unknown {
  if (data instanceof Uint8Array) {
    return toBase64(data);
  }
  if (data instanceof URL) {
    return data.href;
  }
  return isFields(data) && data.data instanceof Uint8Array ? { ...data, data: toBase64(data.data) } : data;
}

function options(providerMetadata: unknown): object {
  return isFields(providerMetadata) ? { providerOptions: providerMetadata } : {};
}

function dataOf(data: Readonly<Record<string, unknown>>): { readonly providerData?: JsonObject } {
  const given = Object.entries(data).filter(([, value]) => value !== undefined);
  // Metadata and results are JSON by the AI SDK's types, and bytes were turned into text above.
  return given.length === 0 ? {} : { providerData: Object.fromEntries(given) as Record<string, JsonValue> };
}

function readReason(reason: unknown): string | { readonly unified?: unknown; readonly raw?: unknown } | undefined {
  return isFields(reason) || typeof reason === "string" ? reason : undefined;
}

function isUnsaid(reason: unknown): boolean {
  return isFields(reason) ? reason.unified === "other" && !reason.raw : !reason;
}

/** Specification 2 counts flatly, later ones within each kind. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) {
    return undefined;
  }
  const inputTokens = totalOf(usage.inputTokens);
  const outputTokens = totalOf(usage.outputTokens);
  if (inputTokens === undefined && outputTokens === undefined) {
    return undefined;
  }
  const sum = (inputTokens ?? 0) + (outputTokens ?? 0);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    totalTokens: totalOf(usage.totalTokens) ?? sum,
  };
}

function totalOf(count: unknown): number | undefined {
  const total: unknown = isFields(count) ? count.total : count;
  return typeof total === "number" && Number.isFinite(total) ? total : undefined;
}

function tellReason(reason: unknown): string {
  const word: unknown = isFields(reason) ? (reason.raw ?? reason.unified) : reason;
  return typeof word === "string" && word !== ""
    ? `The language model ended its response with the reason ${JSON.stringify(word)}.`
    : "The language model's response ended without a reason.";
}

function parseOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
