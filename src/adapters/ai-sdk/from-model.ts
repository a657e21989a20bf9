import { checkOptions, type OptionCheck, wholeNumber } from "../../domain/check-options.ts";
import type { ModelContext, ModelProvider, ModelRequest, ModelResponse } from "../../domain/model.ts";
import { wellFormedJson } from "../wire/well-formed.ts";
import { asError, emitWhole, joinStream } from "./join-stream.ts";
import { type AiSdkLanguageModel, assertLanguageModel, generateWhole, startStream } from "./language-model.ts";
import { toModelResponse } from "./model-response.ts";
import { toPrompt } from "./prompt.ts";
import { retrying } from "./retry.ts";

/** Options of {@link fromAiSdkModel}. */
export interface FromAiSdkModelOptions {
  /** How often a request that failed is sent again, 0 to 100. Default 2. */
  readonly maxRetries?: number | undefined;
}

/**
 * Makes a language model of the AI SDK, of any provider package of its versions 5 to 7, the model of an
 * `Agent`. Settings such as temperature or provider options are the model's own: wrap it with the AI
 * SDK's `defaultSettingsMiddleware`.
 *
 * - **Streaming**: `doStream` is used, and every piece emitted; a model that cannot stream is asked by
 *   `doGenerate`. A stream that ends without a finish, or without any reason for it, is an error, so
 *   that none of its calls runs (PREP-10).
 * - **Errors**: a failure that the provider marks as worth a retry is retried, after 0.5 s and twice as
 *   long each time, or as long as the provider asks, up to a minute; not once a piece has been emitted.
 *   Any other is thrown and ends the run as `providerError`.
 * - **Provider metadata** of text, reasoning and calls goes back where it came from, and so do the tools
 *   that the provider ran itself.
 *
 * @throws KernelError `INVALID_OPTIONS` for a model's name, a model of another specification, or an
 *   option that is unknown or out of bounds
 */
export function fromAiSdkModel(model: AiSdkLanguageModel, options: FromAiSdkModelOptions = {}): ModelProvider {
  assertLanguageModel("fromAiSdkModel", model);
  const maxRetries = readMaxRetries(options);
  return {
    generate: (request, context) => {
      let hasEmitted = false;
      const emit: ModelContext["emit"] = (delta) => {
        hasEmitted = true;
        context.emit(delta);
      };
      const { signal } = context;
      const attempt = () => generate(model, request, { signal, emit });
      return retrying(attempt, { maxRetries, signal, mayRetry: () => !hasEmitted });
    },
  };
}

async function generate(
  model: AiSdkLanguageModel,
  request: ModelRequest,
  { signal, emit }: ModelContext,
): Promise<ModelResponse> {
  const options = callOptions(model, request, signal);
  try {
    const { stream } = await startStream(model, options);
    return toModelResponse(await joinStream(stream, emit), true);
  } catch (error) {
    if (!cannotStream(error)) {
      throw asError(error);
    }
  }
  const result = await generateWhole(model, options);
  const content = Array.isArray(result.content) ? result.content : [];
  emitWhole(content, emit);
  return toModelResponse({ content, finishReason: result.finishReason, usage: result.usage }, false);
}

function callOptions(model: AiSdkLanguageModel, request: ModelRequest, signal: AbortSignal): object {
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description: description.toWellFormed(),
    inputSchema: wellFormedJson(inputSchema),
  }));
  return {
    prompt: toPrompt(request, model.specificationVersion),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: "auto" } }),
    abortSignal: signal,
  };
}

/** The AI SDK's error for what a model does not do, and its test models' for what they were not given. */
function cannotStream(error: unknown): boolean {
  return (
    error instanceof Error && (error.name === "AI_UnsupportedFunctionalityError" || error.message === "Not implemented")
  );
}

const OPTION_CHECKS: Readonly<Record<keyof FromAiSdkModelOptions, OptionCheck>> = { maxRetries: wholeNumber(0, 100) };

function readMaxRetries(options: FromAiSdkModelOptions): number {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  return options.maxRetries ?? 2;
}
