import type { Delta, Message, ModelRequest, ModelResponse } from "toolkernel";
import { type AiSdkLanguageModel, type FromAiSdkModelOptions, fromAiSdkModel } from "toolkernel/ai-sdk";

export const HELLO: Message = { role: "user", content: "Hello" };

export const DONE = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} };

export const TEXT = [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "Hi." },
  { type: "text-end", id: "0" },
];

export interface Asked {
  readonly response: ModelResponse;
  readonly deltas: readonly Delta[];
}

export async function ask(
  model: AiSdkLanguageModel,
  request: Partial<ModelRequest> = {},
  options: FromAiSdkModelOptions & { readonly signal?: AbortSignal } = {},
): Promise<Asked> {
  const { signal = new AbortController().signal, ...own } = options;
  const deltas: Delta[] = [];
  const whole = { systemPrompt: undefined, messages: [HELLO], tools: [], turn: 1, ...request };
  const response = await fromAiSdkModel(model, own).generate(whole, { signal, emit: (delta) => deltas.push(delta) });
  return { response, deltas };
}
