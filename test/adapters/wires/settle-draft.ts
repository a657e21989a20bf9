import type { BatchResult } from "../../../src/domain/batch.ts";
import type { DraftResponse } from "../../../src/domain/call.ts";
import type { ContentPart } from "../../../src/domain/content.ts";
import type { PolicyMessage, ToolResultMessage } from "../../../src/domain/message.ts";

/** What a tool gave back for one call. */
export interface GivenResult {
  readonly content: readonly ContentPart[];
  readonly isError?: boolean;
}

/** The id under which the kernel answers a call: its own, or one that it is given (PREP-9). */
export function answerId(id: string | undefined, callIndex: number): string {
  return id === undefined || id === "" || id === "undefined" ? `call_1_${callIndex}` : id;
}

/** What a batch says after it has settled: a result for each call, in source order, then the policy text. */
export function settleDraft(
  draft: DraftResponse,
  results: readonly GivenResult[],
  policyText?: string,
): Pick<BatchResult, "messages"> {
  const messages = draft.calls.map((call, callIndex): ToolResultMessage => {
    const given = results[callIndex] ?? { content: [] };
    return {
      role: "toolResult",
      callId: answerId(call.id, callIndex),
      toolName: call.name,
      callIndex,
      content: given.content,
      isError: given.isError ?? false,
      outcomeUncertain: false,
      terminate: false,
      ...(call.providerData === undefined ? {} : { providerData: call.providerData }),
    };
  });
  return { messages: policyText === undefined ? messages : [...messages, policyOf(policyText)] };
}

function policyOf(content: string): PolicyMessage {
  return { role: "policy", policy: "agent_policy", content, audience: "internal" };
}
