/**
 * Joins a streamed response to the whole one that the model's `doGenerate` would have given.
 * Owns: the blocks that are open. Invariants: blocks stand in the order they were opened; a stream that
 * ends without `finish` is not a response (PREP-10).
 */

import type { Delta } from "../../domain/event.ts";
import { isFields } from "../wire/draft-call.ts";
import type { ModelPart } from "./language-model.ts";

/** A whole response: its parts, why it ended, what it cost. */
export interface WholeResponse {
  readonly content: readonly ModelPart[];
  readonly finishReason: unknown;
  readonly usage: unknown;
}

/**
 * Reads a stream to its end and emits what it says on the way.
 * @throws what the stream says went wrong, and an `Error` when it ends before it is finished
 */
export async function joinStream(
  stream: ReadableStream<unknown>,
  emit: (delta: Delta) => void,
): Promise<WholeResponse> {
  const joiner = new Joiner(emit);
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (isFields(next.value)) {
        joiner.add(next.value);
      }
    }
  } catch (error) {
    // Tells the provider that nobody reads on; what it says to that changes nothing.
    reader.cancel(error).catch(() => undefined);
    throw error;
  }
  return joiner.finish();
}

/** What a thrown or streamed value of any kind is, as an `Error`. */
export function asError(value: unknown): Error {
  return value instanceof Error
    ? value
    : new Error("The language model failed, and did not say how.", { cause: value });
}

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata: unknown;
}

class Joiner {
  readonly #emit: (delta: Delta) => void;
  readonly #content: (ModelPart | Block)[] = [];
  readonly #open = new Map<string, Block>();
  /** Ids of calls that were told of while their arguments came. */
  readonly #told = new Set<unknown>();
  #end: ModelPart | undefined;

  constructor(emit: (delta: Delta) => void) {
    this.#emit = emit;
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        this.#addText("text", part);
        return;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#addText("reasoning", part);
        return;
      case "tool-input-start":
        this.#startInput(part);
        return;
      case "tool-input-delta":
        this.#continueInput(part);
        return;
      case "tool-call":
        this.#addCall(part);
        return;
      case "tool-result":
      case "tool-approval-request":
      case "file":
      case "reasoning-file":
      case "custom":
        this.#content.push(part);
        return;
      case "finish":
        this.#end = part;
        return;
      case "error":
        throw asError(part.error);
      default:
        return;
    }
  }

  finish(): WholeResponse {
    if (this.#end === undefined) {
      throw new Error("The language model's stream ended before the response was finished.");
    }
    const content = this.#content.map((part): ModelPart => ({ ...part }));
    return { content, finishReason: this.#end.finishReason, usage: this.#end.usage };
  }

  #addText(type: Block["type"], part: ModelPart): void {
    const key = `${type} ${part.id}`;
    let block = part.type === `${type}-start` ? undefined : this.#open.get(key);
    if (block === undefined) {
      block = { type, text: "", providerMetadata: undefined };
      this.#open.set(key, block);
      this.#content.push(block);
    }
    // Signatures come with the last piece; each piece tells the whole metadata so far.
    block.providerMetadata = part.providerMetadata ?? block.providerMetadata;
    if (typeof part.delta === "string" && part.delta !== "") {
      block.text += part.delta;
      this.#emit({ type, text: part.delta });
    }
  }

  #startInput({ id, toolName, providerExecuted }: ModelPart): void {
    if (providerExecuted !== true && typeof id === "string" && typeof toolName === "string") {
      this.#told.add(id);
      this.#emit({ type: "toolCall", id, name: toolName });
    }
  }

  #continueInput({ id, delta }: ModelPart): void {
    if (typeof id === "string" && typeof delta === "string" && this.#told.has(id)) {
      this.#emit({ type: "toolCall", id, argumentsText: delta });
    }
  }

  #addCall(part: ModelPart): void {
    this.#content.push(part);
    if (!this.#told.has(part.toolCallId)) {
      emitCall(part, this.#emit);
    }
  }
}

/** Emits the parts of a response that came whole, so that listeners see it as they see a stream. */
export function emitWhole(content: readonly ModelPart[], emit: (delta: Delta) => void): void {
  for (const part of content) {
    if ((part.type === "text" || part.type === "reasoning") && typeof part.text === "string") {
      emit({ type: part.type, text: part.text });
    }
    if (part.type === "tool-call") {
      emitCall(part, emit);
    }
  }
}

function emitCall({ toolCallId, toolName, input, providerExecuted }: ModelPart, emit: (delta: Delta) => void): void {
  if (providerExecuted === true || typeof toolCallId !== "string" || typeof toolName !== "string") {
    return;
  }
  const argumentsText = typeof input === "string" ? input : JSON.stringify(input);
  emit({ type: "toolCall", id: toolCallId, name: toolName, argumentsText });
}
