import type { SettledCall } from "../domain/call.ts";
import type { PolicyMessage, ToolResultMessage } from "../domain/message.ts";

/** The message of each settled call; in the order given, which is source order (EPOCH-6). */
export function toolMessages(settled: readonly SettledCall[]): ToolResultMessage[] {
  return settled.map(({ call, index, result }) => ({
    role: "toolResult",
    callId: call.id,
    toolName: call.name,
    callIndex: index,
    content: result.content,
    ...(result.details !== undefined && { details: result.details }),
    isError: result.isError,
    ...(result.failureCategory !== undefined && { failureCategory: result.failureCategory }),
    outcomeUncertain: result.outcomeUncertain,
    terminate: result.terminate,
    ...(call.providerData !== undefined && { providerData: call.providerData }),
  }));
}

/** The kernel's word to the model after a batch's results (REP-4). */
export function policyMessage(content: string): PolicyMessage {
  return { role: "policy", policy: "agent_policy", content, audience: "internal" };
}
