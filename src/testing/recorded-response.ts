import type { AssistantPart, DraftResponse, JsonObject, ModelResponse, Usage } from "toolkernel";
import { callsFromAnthropic } from "toolkernel/anthropic";
import { callsFromGemini } from "toolkernel/gemini";
import { callsFromChat, callsFromResponses } from "toolkernel/openai";

type Fields = Readonly<Record<string, unknown>>;

/** A part of a recorded response in its place: said, or the place of a call that has this id on its wire. */
type RecordedPart =
  | Exclude<AssistantPart, { readonly type: "toolCall" }>
  | { readonly type: "call"; readonly id: unknown };

/** What is to be known of a wire to read a whole response of it. */
interface Wire {
  readonly isMine: (response: Fields) => boolean;
  readonly callsFrom: (response: Fields) => DraftResponse;
  readonly partsOf: (response: Fields) => readonly RecordedPart[];
  readonly usageOf: (response: Fields) => readonly unknown[];
  readonly errorOf?: (response: Fields) => unknown;
}

const WIRES: readonly Wire[] = [
  {
    // Chat Completions; a chunk of a stream has a delta in place of the message.
    isMine: ({ choices }) => isFields(fieldsIn(choices)[0]?.message),
    callsFrom: callsFromChat,
    partsOf: ({ choices }) => chatParts(fieldsOf(fieldsIn(choices)[0]?.message)),
    usageOf: ({ usage }) => pick(usage, "prompt_tokens", "completion_tokens", "total_tokens"),
    errorOf: ({ choices }) => fieldsOf(fieldsIn(choices)[0]?.message).refusal,
  },
  {
    // OpenAI Responses.
    isMine: ({ object, output }) => object === "response" && Array.isArray(output),
    callsFrom: callsFromResponses,
    partsOf: ({ output }) => fieldsIn(output).flatMap(itemParts),
    usageOf: ({ usage }) => pick(usage, "input_tokens", "output_tokens", "total_tokens"),
    errorOf: ({ error }) => fieldsOf(error).message,
  },
  {
    // Anthropic Messages.
    isMine: ({ type, content }) => type === "message" && Array.isArray(content),
    callsFrom: callsFromAnthropic,
    partsOf: ({ content }) => fieldsIn(content).flatMap(blockParts),
    usageOf: ({ usage }) => anthropicUsage(fieldsOf(usage)),
  },
  {
    // Gemini, of a refused prompt too, which has no candidates.
    isMine: ({ candidates, promptFeedback }) => Array.isArray(candidates) || isFields(promptFeedback),
    callsFrom: callsFromGemini,
    partsOf: ({ candidates }) => fieldsIn(fieldsOf(fieldsIn(candidates)[0]?.content).parts).flatMap(geminiParts),
    usageOf: ({ usageMetadata }) => geminiUsage(fieldsOf(usageMetadata)),
  },
];

/**
 * Reads a whole response of a model: of Chat Completions, OpenAI Responses, Anthropic Messages or Gemini, or
 * a `ModelResponse` as it is. The wire is known by the response's shape; calls are read by the wire's own
 * adapter and stand where they stood among text and reasoning. `undefined` for anything else.
 */
export function readRecordedResponse(recorded: unknown): ModelResponse | undefined {
  if (!isFields(recorded)) return undefined;
  // What is wrong inside of it is the kernel's to say, when it is played.
  if (Array.isArray(recorded.content) && "stopReason" in recorded) return recorded as unknown as ModelResponse;
  const wire = WIRES.find(({ isMine }) => isMine(recorded));
  if (wire === undefined) return undefined;
  const { calls, stopReason } = wire.callsFrom(recorded);
  const usage = readUsage(wire.usageOf(recorded));
  const said = wire.errorOf?.(recorded);
  return {
    content: placeCalls(wire.partsOf(recorded), calls),
    stopReason,
    ...(usage !== undefined && { usage }),
    ...(stopReason === "error" && typeof said === "string" && { errorMessage: said }),
  };
}

/** Puts the calls that an adapter has read into their places; a place without one was not a call of the client. */
function placeCalls(parts: readonly RecordedPart[], calls: DraftResponse["calls"]): AssistantPart[] {
  const left = calls.map((call): AssistantPart => ({ type: "toolCall", ...call }));
  const content = parts.flatMap((part): AssistantPart[] => {
    if (part.type !== "call") return [part];
    const isNext = left[0]?.type === "toolCall" && left[0].id === (typeof part.id === "string" ? part.id : "");
    return isNext ? left.splice(0, 1) : [];
  });
  return [...content, ...left];
}

function chatParts({
  content,
  reasoning,
  reasoning_content: deepReasoning,
  refusal,
  tool_calls: calls,
}: Fields): RecordedPart[] {
  const texts = typeof content === "string" ? [content] : fieldsIn(content).map(({ text }) => text);
  return [
    ...[deepReasoning ?? reasoning].flatMap(reasoningPart),
    ...[...texts, refusal].flatMap(textPart),
    ...fieldsIn(calls).map(({ id }): RecordedPart => ({ type: "call", id })),
  ];
}

function itemParts(item: Fields): RecordedPart[] {
  switch (item.type) {
    case "message":
      return fieldsIn(item.content).flatMap(({ text, refusal }) => [text, refusal].flatMap(textPart));
    case "reasoning": {
      const { summary, content, type: _type, ...providerData } = item;
      const texts = [...fieldsIn(summary), ...fieldsIn(content)].map(({ text }) => text);
      return [
        { type: "reasoning", text: texts.filter((text) => typeof text === "string").join("\n"), ...kept(providerData) },
      ];
    }
    default:
      return "call_id" in item ? [{ type: "call", id: item.call_id }] : [];
  }
}

function blockParts(block: Fields): RecordedPart[] {
  const { thinking, ...providerData } = block;
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "thinking":
      return [{ type: "reasoning", text: typeof thinking === "string" ? thinking : "", ...kept(providerData) }];
    case "redacted_thinking":
      return [{ type: "reasoning", text: "", ...kept(block) }];
    case "tool_use":
      return [{ type: "call", id: block.id }];
    default:
      return [];
  }
}

function geminiParts({ text, thought, functionCall, ...providerData }: Fields): RecordedPart[] {
  if (isFields(functionCall)) return [{ type: "call", id: functionCall.id }];
  if (thought !== true) return textPart(text);
  return reasoningPart(text).map((part) => ({ ...part, ...kept(providerData) }));
}

function anthropicUsage(usage: Fields): readonly unknown[] {
  const [input, output, ...cached] = pick(
    usage,
    ...["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
  );
  return [cached.reduce<unknown>((sum, more) => Number(sum) + (isCount(more) ? more : 0), input), output, undefined];
}

/** Thinking is output, though it has a count of its own. */
function geminiUsage(usage: Fields): readonly unknown[] {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = usage;
  const counts = [candidatesTokenCount, thoughtsTokenCount].filter(isCount);
  return [
    promptTokenCount,
    counts.length === 0 ? undefined : counts.reduce((sum, more) => sum + more),
    totalTokenCount,
  ];
}

function readUsage([inputTokens, outputTokens, total]: readonly unknown[]): Usage | undefined {
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return { inputTokens, outputTokens, totalTokens: isCount(total) ? total : inputTokens + outputTokens };
}

function textPart(text: unknown): RecordedPart[] {
  return typeof text === "string" && text !== "" ? [{ type: "text", text }] : [];
}

function reasoningPart(text: unknown): RecordedPart[] {
  return typeof text === "string" && text !== "" ? [{ type: "reasoning", text }] : [];
}

/** What the provider wants echoed with reasoning; parsed JSON is a JSON object. */
function kept(providerData: Fields): { readonly providerData?: JsonObject } {
  return Object.keys(providerData).length === 0 ? {} : { providerData: providerData as JsonObject };
}

function pick(fields: unknown, ...names: readonly string[]): readonly unknown[] {
  return names.map((name) => fieldsOf(fields)[name]);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}
