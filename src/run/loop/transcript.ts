/**
 * The messages of a run.
 * Owns: the transcript, the call ids in it. Invariants: messages are only appended, and frozen, each once, since
 * hooks and providers are shown them; call ids are distinct over the whole transcript, since some providers
 * refuse a repeated one (PREP-9, RUN-5).
 */
import type { ToolCall } from "../../domain/call.ts";
import type { AssistantMessage, AssistantPart, Message } from "../../domain/message.ts";
import type { ModelResponse } from "../../domain/model.ts";
import { wellFormedBeside } from "../../domain/well-formed.ts";
import { isMissingId } from "../batch/call-ids.ts";

/** A model's response as the transcript takes it: ids made distinct, and the calls in it. */
export interface ReadAssistant {
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCall[];
  /** Whether the response itself named two calls alike (PREP-9). */
  readonly hasDuplicateIds: boolean;
}

/** See the file header. */
export class Transcript {
  readonly #messages: Message[];
  readonly #earlier: number;
  readonly #ids = new Set<string>();

  constructor(messages: readonly Message[]) {
    this.#messages = [...messages];
    this.#earlier = messages.length;
    for (const message of messages) this.#noteIds(message);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /**
   * The transcript as a provider takes it, and what of it has been appended. A response whose calls have not
   * all their results yet is left out: it waits for approvals, and comes with its results (RUN-5, APP-1), or
   * the run broke off in the middle of it.
   */
  answered(): { readonly messages: readonly Message[]; readonly added: readonly Message[] } {
    const index = this.#messages.findLastIndex(({ role }) => role === "assistant");
    const last = this.#messages[index];
    const calls = last?.role === "assistant" ? last.content.filter(({ type }) => type === "toolCall").length : 0;
    const results = this.#messages.slice(index + 1).filter(({ role }) => role === "toolResult").length;
    const messages = results < calls ? this.#messages.slice(0, index) : [...this.#messages];
    return { messages, added: messages.slice(this.#earlier) };
  }

  get length(): number {
    return this.#messages.length;
  }

  append(message: Message): void {
    this.#messages.push(Object.freeze(message)); // what it holds is frozen by whoever made or read it
  }

  /** Appends a message of an earlier process, whose ids are taken too. */
  take(message: Message): void {
    this.#noteIds(message);
    this.append(message);
  }

  /** Reads a response; a missing id is given, one that the transcript knows already is replaced. */
  readResponse(response: ModelResponse, turn: number): ReadAssistant {
    const calls: ToolCall[] = [];
    const given = new Set<string>();
    let hasDuplicateIds = false;
    const content = response.content.map((part): AssistantPart => {
      if (part.type !== "toolCall") return part;
      if (!isMissingId(part.id)) {
        hasDuplicateIds ||= given.has(part.id);
        given.add(part.id);
      }
      const id = this.#takeId(part.id, `call_${turn}_${calls.length}`);
      const { name, arguments: draft, providerData } = part;
      calls.push({ id, name, arguments: draft, ...(providerData !== undefined && { providerData }) });
      const named = id === part.id ? part : Object.freeze({ ...part, id });
      // What runs, or is refused, is what the model wrote; what it is shown of that is what every provider takes.
      return wellFormedBeside(named, ["providerData"]);
    });
    const { stopReason, usage } = response;
    Object.freeze(content);
    const message: AssistantMessage = { role: "assistant", content, stopReason, ...(usage !== undefined && { usage }) };
    return { message, calls, hasDuplicateIds };
  }

  #takeId(given: string, spare: string): string {
    let id = isMissingId(given) ? spare : given.toWellFormed();
    if (this.#ids.has(id)) id = spare;
    while (this.#ids.has(id)) id = `${id}_`;
    this.#ids.add(id);
    return id;
  }

  #noteIds(message: Message): void {
    if (message.role !== "assistant") return;
    for (const part of message.content) if (part.type === "toolCall") this.#ids.add(part.id);
  }
}
