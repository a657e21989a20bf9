/**
 * What the wrapped model has said in one response.
 * Owns: the calls seen so far, which of them were executed, whether the response is whole. Does not own:
 * the batch that runs them. Invariants: it becomes whole once, when its reason is known, when its stream
 * ends, or when nobody reads on; without a finish it is an error, so that nothing of it runs (PREP-10).
 */

import type { DraftResponse, StopReason } from "../../domain/call.ts";
import { isFields, objectsOf } from "../wire/draft-call.ts";
import type { ModelPart } from "./language-model.ts";
import type { AiSdkResponseLike } from "./message-shapes.ts";
import { callsFromAiSdk } from "./messages.ts";

/** See the file header. */
export class ResponseRecord {
  /** Resolves when the response is whole. */
  readonly whole: Promise<DraftResponse>;
  readonly #isOurs: (toolName: unknown) => boolean;
  readonly #content: ModelPart[] = [];
  readonly #executed = new Set<number>();
  #resolve: (draft: DraftResponse) => void = () => undefined;
  #isWhole = false;

  /** `isOurs` tells the calls that the kernel is to answer from those that the host runs elsewhere. */
  constructor(isOurs: (toolName: unknown) => boolean) {
    this.#isOurs = isOurs;
    this.whole = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The ids of the calls that the kernel answers, in source order. */
  get callIds(): readonly string[] {
    return this.#draft("toolUse").calls.map((call) => call.id);
  }

  /** Takes note of one part of a stream. */
  see(part: unknown): void {
    if (!isFields(part) || this.#isWhole) {
      return;
    }
    if (part.type === "finish") {
      this.#finish(part.finishReason);
    } else {
      this.#content.push(part);
    }
  }

  /** Takes note of a response that came whole. */
  seeWhole(result: ModelPart): void {
    this.#content.push(...objectsOf(result.content));
    this.#finish(result.finishReason);
  }

  /** Nothing more comes. After a finish this says nothing new. */
  end(): void {
    this.#complete("error");
  }

  /** The place of a call that is executed now; each call of a response is executed once. */
  take(callId: string): number | undefined {
    const index = this.callIds.findIndex((id, index) => id === callId && !this.#executed.has(index));
    if (index === -1) {
      return undefined;
    }
    this.#executed.add(index);
    return index;
  }

  #finish(reason: unknown): void {
    // Either form of the reason is read by the reader of messages, anything else is no reason of the AI SDK.
    const finishReason = reason as AiSdkResponseLike["finishReason"];
    this.#complete(callsFromAiSdk({ content: this.#content, finishReason }).stopReason);
  }

  #complete(stopReason: StopReason): void {
    if (!this.#isWhole) {
      this.#isWhole = true;
      this.#resolve(this.#draft(stopReason));
    }
  }

  #draft(stopReason: StopReason): DraftResponse {
    const { calls } = callsFromAiSdk({ content: this.#content });
    return { calls: calls.filter((call) => this.#isOurs(call.name)), stopReason };
  }
}
