import type { ContentPart } from "../../domain/content.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { AssistantPart, Message, ToolResultMessage } from "../../domain/message.ts";
import type { ModelRequest } from "../../domain/model.ts";
import { type MediaPart, partText } from "../wire/content-text.ts";
import { isFields } from "../wire/draft-call.ts";
import { wellFormedJson } from "../wire/well-formed.ts";
import type { AiSdkSpecification } from "./language-model.ts";
import type { AiSdkOutput } from "./message-shapes.ts";
import { toAiSdkOutput } from "./messages.ts";

type PromptMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly content: readonly object[] };

/**
 * A request's system prompt and messages as a language model's prompt, in the shapes of its
 * specification: results of one response in one tool message, the kernel's own words as user messages,
 * provider metadata where it came from. All text is well-formed; equal requests give equal prompts.
 */
export function toPrompt(request: ModelRequest, version: AiSdkSpecification): readonly PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (request.systemPrompt !== undefined && request.systemPrompt !== "") {
    prompt.push({ role: "system", content: request.systemPrompt.toWellFormed() });
  }
  let results: ToolResultMessage[] = [];
  for (const message of request.messages) {
    if (message.role === "toolResult") {
      results.push(message);
      continue;
    }
    pushResults(prompt, results, version);
    results = [];
    const content = message.role === "assistant" ? assistantContent(message.content) : userContent(message, version);
    if (content.length > 0) {
      prompt.push({ role: message.role === "assistant" ? "assistant" : "user", content });
    }
  }
  pushResults(prompt, results, version);
  return prompt;
}

function pushResults(
  prompt: PromptMessage[],
  results: readonly ToolResultMessage[],
  version: AiSdkSpecification,
): void {
  if (results.length > 0) {
    prompt.push({ role: "tool", content: results.map((result) => toolResult(result, version)) });
  }
}

function toolResult(result: ToolResultMessage, version: AiSdkSpecification): object {
  return {
    type: "tool-result",
    toolCallId: result.callId,
    toolName: result.toolName,
    output: outputOf(toAiSdkOutput(result), version),
    ...optionsOf(result.providerData?.providerMetadata),
  };
}

/** Bytes within a result are named differently by every specification. */
function outputOf(output: AiSdkOutput, version: AiSdkSpecification): object {
  if (output.type !== "content" || version === "v3") {
    return output;
  }
  return {
    type: "content",
    value: output.value.map((part) => {
      if (part.type === "text") {
        return part;
      }
      const { type: _, data, ...rest } = part;
      return version === "v2"
        ? { type: "media", data, mediaType: part.mediaType }
        : { type: "file", data: { type: "data", data }, ...rest };
    }),
  };
}

function userContent(message: Extract<Message, { role: "user" | "policy" }>, version: AiSdkSpecification): object[] {
  const { content } = message;
  return typeof content === "string"
    ? [{ type: "text", text: content.toWellFormed() }]
    : content.map((part) => userPart(part, version));
}

function userPart(part: ContentPart, version: AiSdkSpecification): object {
  return "data" in part ? filePart(part, version) : { type: "text", text: partText(part) };
}

function filePart({ data, mediaType, name }: MediaPart, version: AiSdkSpecification): object {
  const given = version === "v4" ? { type: "data", data } : data;
  return { type: "file", data: given, mediaType, ...(name === undefined ? {} : { filename: name.toWellFormed() }) };
}

function assistantContent(parts: readonly AssistantPart[]): object[] {
  const content: object[] = [];
  let nextText: unknown;
  for (const part of parts) {
    const data: JsonObject = part.type === "text" ? {} : (part.providerData ?? {});
    if (part.type === "toolCall") {
      content.push(callPart(part));
    } else if (part.type === "text") {
      // Providers refuse an empty text.
      content.push(...(part.text === "" ? [] : [{ ...saidPart(part), ...optionsOf(nextText) }]));
      nextText = undefined;
    } else if (isFields(data.part)) {
      content.push(data.part);
    } else if (data.nextText !== undefined) {
      nextText = data.nextText;
    } else {
      content.push({ ...saidPart(part), ...optionsOf(data.providerMetadata) });
    }
  }
  return content;
}

function saidPart({ type, text }: { readonly type: string; readonly text: string }): object {
  return { type, text: text.toWellFormed() };
}

function callPart(part: Extract<AssistantPart, { readonly type: "toolCall" }>): object {
  return {
    type: "tool-call",
    toolCallId: part.id,
    toolName: part.name,
    input: wellFormedJson(parseArguments(part.arguments)),
    ...optionsOf(part.providerData?.providerMetadata),
  };
}

/** Providers take an object alone; a draft that is not one was refused, and its result says why. */
function parseArguments(draft: string | JsonObject): JsonObject {
  if (typeof draft !== "string") {
    return draft;
  }
  try {
    const parsed: unknown = JSON.parse(draft);
    // What JSON.parse gives is JSON.
    return isFields(parsed) ? (parsed as JsonObject) : {};
  } catch {
    return {};
  }
}

function optionsOf(providerMetadata: unknown): object {
  return isFields(providerMetadata) ? { providerOptions: providerMetadata } : {};
}
