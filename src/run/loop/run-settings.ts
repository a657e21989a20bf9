import type { ApprovalDecisions } from "../../domain/approval.ts";
import type { Message, UserMessage } from "../../domain/message.ts";
import type { ModelProvider } from "../../domain/model.ts";
import type { AgentHooks } from "../../domain/run.ts";
import type { ToolRegistry } from "../../prepare/register-tools.ts";

/** What a run is configured with beside its session's settings. */
export interface RunSettings {
  readonly model: ModelProvider;
  readonly systemPrompt: string | undefined;
  readonly hooks: AgentHooks;
  readonly tools: ToolRegistry;
  /** Registers the tools that `prepareNextTurn` gives for a turn. */
  readonly register: (tools: readonly unknown[]) => ToolRegistry;
  /** Reads the messages that it gives; `path` names them in the error. */
  readonly readMessages: (messages: readonly unknown[], path: string) => readonly Message[];
}

/** How an open run goes on. */
export interface ResumeFacts {
  readonly approvals: ApprovalDecisions;
  readonly blockOthers: boolean;
  readonly message: UserMessage | undefined;
}
