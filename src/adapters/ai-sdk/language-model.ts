import { KernelError } from "toolkernel";
import { readGiven } from "../../domain/check-options.ts";
import { isFields } from "../wire/draft-call.ts";

/** The provider specifications that are understood: those of versions 5, 6 and 7 of the AI SDK. */
export type AiSdkSpecification = "v2" | "v3" | "v4";

/** A language model of the AI SDK, of any provider package of its versions 5 to 7. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: AiSdkSpecification;
  readonly provider: string;
  readonly modelId: string;
  // Options and answers differ by version; what is handed over and what comes back is laid out by it.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** One piece of a response or of a stream; read field by field. */
export type ModelPart = Readonly<Record<string, unknown>>;

/**
 * Checks that a value is a language model that can be called here.
 * @throws KernelError `INVALID_OPTIONS` for a model's name, or a model of another specification
 */
export function assertLanguageModel(caller: string, model: unknown): asserts model is AiSdkLanguageModel {
  readGiven("model", () => checkModel(caller, model));
}

function checkModel(caller: string, model: unknown): void {
  if (typeof model === "string") {
    const message = `${caller} takes a language model, not the name of one. Make one with a provider package.`;
    throw new KernelError("INVALID_OPTIONS", message, { subject: "model" });
  }
  const isModel = typeof model === "object" && model !== null && "doGenerate" in model && "doStream" in model;
  const version = isModel && "specificationVersion" in model ? model.specificationVersion : undefined;
  if (version !== "v2" && version !== "v3" && version !== "v4") {
    const message = `${caller} takes a language model of the AI SDK's specification v2, v3 or v4, and no other.`;
    throw new KernelError("INVALID_OPTIONS", message, { subject: "model" });
  }
}

/** Asks a model for a whole response. */
export async function generateWhole(model: AiSdkLanguageModel, options: object): Promise<ModelPart> {
  // The options are laid out for the model's own version.
  const result: unknown = await model.doGenerate(options as never);
  return isFields(result) ? result : {};
}

/** Asks a model for a stream; the answer holds it as `stream`. */
export async function startStream(model: AiSdkLanguageModel, options: object): Promise<StreamStart> {
  const result: unknown = await model.doStream(options as never);
  const stream: unknown = isFields(result) ? result.stream : undefined;
  if (!isFields(result) || !isStream(stream)) {
    throw new Error("The language model returned no stream from doStream.");
  }
  return { ...result, stream };
}

/** What `doStream` returns. */
export interface StreamStart extends ModelPart {
  readonly stream: ReadableStream<unknown>;
}

/** A stream may come from another realm, whose class is not ours. */
function isStream(value: unknown): value is ReadableStream<unknown> {
  return typeof value === "object" && value !== null && "getReader" in value && typeof value.getReader === "function";
}
