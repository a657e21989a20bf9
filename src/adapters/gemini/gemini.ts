import type { DraftResponse, StopReason, ToolCall } from "../../domain/call.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { type BatchMessages, policyTextsOf, resultsOf } from "../wire/batch-messages.ts";
import { type MediaPart, mediaLabel, type SplitPart, splitContent } from "../wire/content-text.ts";
import { draftCall, fieldsBeside, isFields, objectsOf } from "../wire/draft-call.ts";
import { readBatch, readResponse } from "../wire/read-given.ts";
import { readStopReason, stopWords } from "../wire/stop-reason.ts";
import { declareTools } from "../wire/tool-declaration.ts";
import { wellFormedJson } from "../wire/well-formed.ts";
import type { GeminiContent, GeminiPart, GeminiResponseLike, GeminiTool } from "./gemini-shapes.ts";

type Part = Readonly<Record<string, unknown>>;

const STOP_WORDS = stopWords(["STOP"], ["CONTINUATION"]);

/**
 * Declares tools to Gemini, in the order given, as one entry for `config.tools`; an empty list when
 * there are none. Schemas go as `parametersJsonSchema`.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when a tool has no JSON Schema, `INVALID_OPTIONS` for anything but a
 *   list of tools
 */
export function toGeminiTools(tools: readonly AnyTool[]): GeminiTool[] {
  const functionDeclarations = declareTools(tools).map(({ name, description, schema }) => {
    return { name, description, parametersJsonSchema: schema };
  });
  return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
}

/**
 * Reads the function calls of a whole response (a stream is joined first), of its first candidate, in
 * source order. Names and arguments come out as they stand, ids too; where Gemini gives none the id is
 * "" and the kernel gives one. The thought signature and other fields of the part stay in
 * `providerData`, which every call has, if only an empty one. Code execution and other calls that
 * Gemini runs itself are left alone.
 *
 * `MAX_TOKENS`, and a call of which only pieces of a stream are there, are `length`; a blocked prompt and
 * every other reason but `STOP` are `error`: the kernel then runs none of the calls and answers each
 * (PREP-10).
 * @throws KernelError `INVALID_OPTIONS` for anything but a whole response
 */
export function callsFromGemini(response: GeminiResponseLike): DraftResponse {
  return readResponse(response, () => {
    const candidate = response.candidates?.[0];
    const parts = objectsOf(candidate?.content?.parts).filter((part) => isFields(part.functionCall));
    const calls = parts.map(readCall);
    return { calls, stopReason: readStop(response, parts, calls) };
  });
}

/**
 * The results of a batch as one content: a `functionResponse` for each call in source order, then
 * images, audio and documents of the results, each after a text that says whose it is, then what the
 * kernel has to say. An empty list when there is nothing. Append it after the model's own content.
 *
 * A result is `{ output }`, a failure `{ error }`. Bytes go beside the function responses, since only
 * the newest models take them within. A call that came without an id goes back without one.
 * @throws KernelError `INVALID_OPTIONS` for anything but a batch's result
 */
export function toGeminiContents(batch: BatchMessages): GeminiContent[] {
  return readBatch(batch, () => {
    const results = resultsOf(batch);
    const parts = [
      ...results.map(toFunctionResponse),
      ...results.flatMap(toMediaParts),
      ...policyTextsOf(batch).map((text): GeminiPart => ({ text })),
    ];
    return parts.length === 0 ? [] : [{ role: "user", parts }];
  });
}

function readCall(part: Part): ToolCall {
  const called = isFields(part.functionCall) ? part.functionCall : {};
  const beside = { ...fieldsBeside(part, ["functionCall"]), ...fieldsBeside(called, ["name", "args"]) };
  return draftCall({ id: called.id, name: called.name, arguments: called.args, providerData: beside });
}

function readStop(response: GeminiResponseLike, parts: readonly Part[], calls: readonly ToolCall[]): StopReason {
  if (response.promptFeedback?.blockReason) {
    return "error";
  }
  const stopReason = readStopReason(response.candidates?.[0]?.finishReason, STOP_WORDS, calls);
  return stopReason === "toolUse" && parts.some(isFragment) ? "length" : stopReason;
}

/** A piece of a streamed call, whose arguments stand nowhere as a whole. */
function isFragment({ functionCall }: Part): boolean {
  return isFields(functionCall) && (functionCall.willContinue === true || functionCall.partialArgs !== undefined);
}

function toFunctionResponse(result: ToolResultMessage): GeminiPart {
  const id = idOf(result);
  const shown = showContent(result);
  return {
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name: result.toolName,
      response: result.isError ? { error: shown } : { output: shown },
    },
  };
}

/** The id the provider gave; of a call that {@link callsFromGemini} did not read, the one the host gave. */
function idOf(result: ToolResultMessage): string | undefined {
  if (result.providerData === undefined) {
    return result.callId;
  }
  const { id } = result.providerData;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function showContent(result: ToolResultMessage): JsonValue {
  const only = result.content.length === 1 ? result.content[0] : undefined;
  if (only?.type === "json") {
    return wellFormedJson(only.value);
  }
  return splitContent(result.content, takesMedia)
    .map((split) => (split.kind === "text" ? split.text : `[${mediaLabel(split.part)}: see below]`))
    .join("\n");
}

function toMediaParts(result: ToolResultMessage): GeminiPart[] {
  return splitContent(result.content, takesMedia)
    .filter((split): split is Extract<SplitPart, { readonly kind: "media" }> => split.kind === "media")
    .flatMap(({ part }) => [
      { text: `[${mediaLabel(part)}, of call ${result.callIndex + 1} (${result.toolName})]` },
      { inlineData: { mimeType: part.mediaType, data: part.data } },
    ]);
}

function takesMedia(part: MediaPart): boolean {
  return /^(image|audio|video)\//.test(part.mediaType) || part.mediaType === "application/pdf";
}
