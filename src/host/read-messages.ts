import type { ApprovalDecisions } from "../domain/approval.ts";
import { checkGiven, invalidOption, mustBeRecord, type OptionCheck, readGiven } from "../domain/check-options.ts";
import { copyFrozen, isFrozenDeep } from "../domain/frozen.ts";
import type { AssistantPart, Message, UserMessage } from "../domain/message.ts";
import { wellFormedBeside } from "../domain/well-formed.ts";
import { isAssistantPart, isContentPart } from "./message-parts.ts";

/** What a run begins with: the transcript before it, and its prompt. */
export interface RunInputMessages {
  readonly earlier: readonly Message[];
  readonly prompt: readonly Message[];
}

/**
 * Reads what `run` was given: a string, or messages of which the user's last ones are the prompt.
 * @throws KernelError `INVALID_OPTIONS` for anything else, and for a transcript in which a tool call has
 * not exactly one result right after its response (RUN-5).
 */
export function readRunInput(input: unknown): RunInputMessages {
  if (typeof input === "string") return { earlier: [], prompt: [readUserMessage(input, "messages")] };
  if (!Array.isArray(input)) throw invalidOption("messages", "must be a string or an array of messages");
  const messages = readMessages(input, "messages");
  checkPairs(messages);
  const last = messages.findLastIndex(({ role }) => role !== "user");
  return { earlier: messages.slice(0, last + 1), prompt: messages.slice(last + 1) };
}

/** Reads messages one by one; whether they belong together is not looked at. @throws KernelError `INVALID_OPTIONS`. */
export function readMessages(given: readonly unknown[], path: string): readonly Message[] {
  // By `from`, so that holes of the array are looked at too.
  return readGiven(path, () => Array.from(given, (message, index) => readMessage(message, `${path}[${index}]`)));
}

/** Reads a user message given as text or message. @throws KernelError `INVALID_OPTIONS`. */
export function readUserMessage(given: unknown, path: string): UserMessage {
  if (typeof given === "string") {
    if (given === "") throw invalidOption(path, EMPTY);
    return { role: "user", content: given.toWellFormed() };
  }
  const message = readGiven(path, () => readMessage(given, path));
  if (message.role !== "user") throw invalidOption(path, "must be a string or a user message");
  return message;
}

/** Checks answers to approvals. @throws KernelError `INVALID_OPTIONS` naming the id. */
export function checkDecisions(decisions: ApprovalDecisions): void {
  checkGiven(decisions, "approvals", mustBeRecord);
  for (const [id, decision] of readGiven("approvals", () => Object.entries(decisions))) {
    checkGiven(decision, `approvals.${id.slice(0, 64)}`, mustBeDecision);
  }
}

const mustBeDecision: OptionCheck = (decision) => {
  const block = typeof decision === "object" && decision !== null ? (decision as { block?: unknown }).block : undefined;
  return decision === true || typeof block === "string" ? undefined : "must be true or { block: reason }";
};

function readMessage(given: unknown, path: string): Message {
  if (mustBeRecord(given) !== undefined) throw invalidOption(path, "must be a message");
  // Providers and hooks are shown it, and must not reach what is the host's. A message of an earlier run is frozen
  // already, so that a hook which gives a transcript back in every turn does not have it copied in every turn.
  const copy = isFrozenDeep(given) ? given : copyFrozen({ ...(given as object) });
  const message = copy as Message; // its role and content are looked at before it is used
  const fault = findFault(message);
  if (fault !== undefined) throw invalidOption(path, fault);
  return wellFormedMessage(message);
}

/** A message as every provider takes it; what is opaque or the host's own stays as it is. */
function wellFormedMessage(message: Message): Message {
  if (message.role !== "assistant") return wellFormedBeside(message, ["details", "providerData"]);
  const content = message.content.map((part) => wellFormedBeside<AssistantPart>(part, ["providerData"]));
  const isSame = content.every((part, index) => part === message.content[index]);
  return isSame ? message : Object.freeze({ ...message, content: Object.freeze(content) });
}

const EMPTY = "must not be empty: it would say nothing, and providers refuse it";

function findUserFault(content: unknown): string | undefined {
  if (content === "" || (Array.isArray(content) && content.every(isEmptyText))) return EMPTY;
  return typeof content === "string" ? undefined : findPartFault(content, isContentPart);
}

function isEmptyText(part: unknown): boolean {
  const { type, text } = (part ?? {}) as { readonly type?: unknown; readonly text?: unknown }; // looked at, not trusted
  return type === "text" && text === "";
}

/** What is wrong with a message, or undefined. */
function findFault(message: Message): string | undefined {
  switch (message.role) {
    case "user":
      return findUserFault(message.content);
    case "assistant":
      return findPartFault(message.content, isAssistantPart);
    case "toolResult":
      return typeof message.callId === "string" ? findPartFault(message.content, isContentPart) : "must have a callId";
    case "policy":
      return typeof message.content === "string" ? undefined : "must have a string as content";
    default:
      return "must be a user, assistant, toolResult or policy message with content";
  }
}

function findPartFault(content: unknown, isPart: (part: unknown) => boolean): string | undefined {
  if (!Array.isArray(content)) return "must have an array of parts as content";
  const wrong = Array.from(content, isPart).indexOf(false);
  return wrong === -1 ? undefined : `must have known parts with all their fields as content; part ${wrong} is not one`;
}

function checkPairs(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") {
      if (open.shift() !== message.callId) {
        throw invalidOption(`messages[${index}]`, "is a tool result without its tool call right before it, in order");
      }
      continue;
    }
    if (open.length > 0) throw invalidOption(`messages[${index}]`, "comes before every tool call has its result");
    if (message.role === "assistant") {
      open = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    }
  }
  if (open.length > 0) throw invalidOption("messages", "ends before every tool call has its result");
}
