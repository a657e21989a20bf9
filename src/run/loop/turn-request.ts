import type { Message } from "../../domain/message.ts";
import type { ModelRequest } from "../../domain/model.ts";

/**
 * Makes the request of a turn. Its messages are those of now, whatever is said later: `messages` may grow at
 * its end, and in no other way, and each message is frozen since it entered the transcript. Their list is copied
 * when it is first read, so that a long run does not pay for its transcript in every turn.
 */
export function createRequest(parts: ModelRequest): ModelRequest {
  return new TurnRequest(parts);
}

class TurnRequest implements ModelRequest {
  readonly systemPrompt: ModelRequest["systemPrompt"];
  declare readonly messages: readonly Message[];
  readonly tools: ModelRequest["tools"];
  readonly turn: number;
  readonly #transcript: readonly Message[];
  readonly #length: number;
  #messages: readonly Message[] | undefined;

  constructor({ systemPrompt, messages, tools, turn }: ModelRequest) {
    this.systemPrompt = systemPrompt;
    // An own property, so that a provider that spreads its request keeps the messages.
    Object.defineProperty(this, "messages", TurnRequest.#MESSAGES);
    this.tools = tools;
    this.turn = turn;
    this.#transcript = messages;
    this.#length = messages.length;
  }

  static readonly #MESSAGES: PropertyDescriptor & ThisType<TurnRequest> = {
    get() {
      this.#messages ??= this.#transcript.slice(0, this.#length);
      return this.#messages;
    },
    enumerable: true,
    configurable: true,
  };
}
