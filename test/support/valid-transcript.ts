import type { AssistantMessage, Message } from "toolkernel";

/**
 * What a provider would refuse in a transcript, as sentences; empty for one that is fit to be sent (RUN-5).
 * Written against the rule and not against the kernel's own reader: every tool call has exactly one result
 * right behind its response, in order; ids are there and distinct; nothing else comes in between; no message
 * is empty; all of it is JSON.
 */
export function findTranscriptFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  let place = 0;
  if (messages[0] !== undefined && messages[0].role !== "user") faults.push("it does not begin with a user message");
  while (place < messages.length) {
    const message = messages[place];
    const here = `messages[${place}]`;
    place += 1;
    if (message === undefined) continue;
    if (JSON.stringify(JSON.parse(JSON.stringify(message))) !== JSON.stringify(message))
      faults.push(`${here} is not JSON`);
    if (message.role === "toolResult") faults.push(`${here} is a result that no call right before it asked for`);
    if (message.role === "policy") faults.push(`${here} is a policy message that follows no results`);
    if (message.role !== "assistant") continue;
    faults.push(...findResponseFaults(message, here, ids));
    place = readResults(message, messages, place, faults);
  }
  return faults;
}

function findResponseFaults(message: AssistantMessage, here: string, ids: Set<string>): string[] {
  const faults = message.content.length === 0 ? [`${here} is an empty response`] : [];
  for (const part of message.content) {
    if (part.type !== "toolCall") continue;
    if (part.id === "") faults.push(`${here} has a call without an id`);
    if (ids.has(part.id)) faults.push(`${here} has the id ${part.id} once more`);
    if (
      part.arguments === null ||
      !["string", "object"].includes(typeof part.arguments) ||
      Array.isArray(part.arguments)
    )
      faults.push(`${here} has arguments that are neither a text nor an object`);
    ids.add(part.id);
  }
  return faults;
}

/** Reads the results behind a response, and the one policy message that may follow them; answers the next place. */
function readResults(message: AssistantMessage, messages: readonly Message[], first: number, faults: string[]): number {
  const calls = message.content.flatMap((part) => (part.type === "toolCall" ? [part] : []));
  for (const [index, call] of calls.entries()) {
    const result = messages[first + index];
    const expected = { callId: call.id, toolName: call.name, callIndex: index };
    if (result?.role !== "toolResult") faults.push(`the call ${call.id} has no result in its place`);
    else if (result.callId !== expected.callId || result.toolName !== expected.toolName || result.callIndex !== index)
      faults.push(`the result in the place of ${call.id} is that of ${result.callId}`);
    else if (result.content.length === 0 && result.isError) faults.push(`the error of ${call.id} says nothing`);
  }
  const next = first + calls.length;
  return calls.length > 0 && messages[next]?.role === "policy" ? next + 1 : next;
}
