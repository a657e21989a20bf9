import type { SettledCall } from "../domain/call.ts";
import type { PolicyMessage, ToolResultMessage } from "../domain/message.ts";
import type { Writable } from "../domain/writable.ts";

/** The message of each settled call; in the order given, which is source order (EPOCH-6). Ids are the host's, as they are. */
export function toolMessages(settled: readonly SettledCall[]): ToolResultMessage[] {
  return settled.map(({ call, index, result }) => {
    const message: Writable<ToolResultMessage> = {
      role: "toolResult",
      callId: call.id,
      toolName: call.name.toWellFormed(),
      callIndex: index,
      content: result.content,
      isError: result.isError,
      outcomeUncertain: result.outcomeUncertain,
      terminate: result.terminate,
    };
    if (result.details !== undefined) message.details = result.details;
    if (result.failureCategory !== undefined) message.failureCategory = result.failureCategory;
    if (call.providerData !== undefined) message.providerData = call.providerData;
    return message;
  });
}

/** The kernel's word to the model after a batch's results (REP-4). */
export function policyMessage(content: string): PolicyMessage {
  return { role: "policy", policy: "agent_policy", content, audience: "internal" };
}
