import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** A chat model of LangChain that gives its messages one after another, and keeps what it was asked. */
export class ScriptedChatModel extends BaseChatModel {
  readonly asked: BaseMessage[][] = [];
  readonly #script: readonly AIMessage[];

  constructor(script: readonly AIMessage[]) {
    super({});
    this.#script = script;
  }

  override _llmType(): string {
    return "scripted";
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.asked.push(messages);
    const message = this.#script[this.asked.length - 1] ?? new AIMessage("");
    return { generations: [{ message, text: message.text }] };
  }
}
