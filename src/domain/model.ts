import type { StopReason } from "./call.ts";
import type { Delta } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { AssistantPart, Message, Usage } from "./message.ts";

/** A tool as a model sees it; `inputSchema` is JSON Schema. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** One request to a model. `turn` starts at 1. */
export interface ModelRequest {
  readonly systemPrompt: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly turn: number;
}

/** One response of a model. */
export interface ModelResponse {
  readonly content: readonly AssistantPart[];
  readonly stopReason: StopReason;
  readonly usage?: Usage | undefined;
  /** Why it failed, when `stopReason` is `error`. */
  readonly errorMessage?: string | undefined;
}

/** What a model is given beside its request. */
export interface ModelContext {
  /** Fires when the run is aborted or the model's time-out is over. */
  readonly signal: AbortSignal;
  /** Streams a part of the response; every part starts the time-out anew. Dropped once the request is over. */
  emit(delta: Delta): void;
}

/**
 * A model. *Contract*: a throw, a rejection and a response of another shape end the run as
 * `providerError`, never as an exception.
 */
export interface ModelProvider {
  generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse>;
}
