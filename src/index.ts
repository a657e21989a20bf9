/** The core of toolkernel: what a host embeds. Adapters, stores and testing have entries of their own. */
export {
  type DispatchOptions,
  GameActionDispatcher,
  type GameActionDispatcherOptions,
} from "./actions/dispatcher.ts";
export { GameActionTool, type GameActionToolOptions } from "./actions/game-action-tool.ts";
export { GameActionReceipt, type ReceiptSubject } from "./actions/receipt.ts";
export type {
  ActionContext,
  ActionMap,
  ActionMoment,
  ActionResolution,
  ActionShape,
  AnyActions,
  DispatchResult,
  DispatchTimings,
  Disposition,
  DurableCallContext,
  DurableToolPort,
  GameActionHandler,
  GameActionInput,
  GameActionIntent,
  IntentOf,
  ModelReceiptProjector,
  ProjectionInput,
  ReceiptStatus,
} from "./domain/action.ts";
export type { Approval, ApprovalDecision, ApprovalDecisions } from "./domain/approval.ts";
export type { BatchResult, ClosedBy } from "./domain/batch.ts";
export type {
  DraftResponse,
  Outcome,
  PreparedCall,
  Refusal,
  Repair,
  SettledCall,
  StopReason,
  ToolCall,
} from "./domain/call.ts";
export {
  type ContentPart,
  type DeclaredResult,
  type ToolResult,
  type ToolResultFields,
  toolResult,
} from "./domain/content.ts";
export {
  KernelError,
  type KernelErrorCode,
  OutcomeUnknownError,
  ToolError,
  type ToolErrorOptions,
} from "./domain/errors.ts";
export type {
  ActionFacts,
  Audience,
  CallEventBase,
  Delta,
  EventBase,
  KernelEvent,
  KernelEventKind,
  KernelEventMap,
  RunStatus,
} from "./domain/event.ts";
export type { FailureCategory } from "./domain/failure.ts";
export type {
  AfterToolCall,
  AfterToolCallInput,
  AuthorizeDecision,
  AuthorizeInput,
  AuthorizeToolCall,
  CallHookInput,
  Hook,
  RewriteDecision,
  RewriteToolCall,
  SessionHooks,
} from "./domain/hooks.ts";
export type {
  ClaimAnswer,
  ClaimRequest,
  ConflictScope,
  DoubtRequest,
  FinishAnswer,
  FinishRequest,
  Journal,
  JournalEntry,
  JournalEvidence,
  JournalPage,
  JournalProtocol,
  JournalState,
  ListOpenOptions,
  Released,
  SweepCount,
  TakeOverAnswer,
  TakeOverRequest,
  WithdrawAnswer,
  WithdrawRequest,
} from "./domain/journal.ts";
export type { JsonObject, JsonValue } from "./domain/json.ts";
export { DEFAULT_LIMITS, type LimitName, type Limits } from "./domain/limits.ts";
export type {
  AssistantMessage,
  AssistantPart,
  Message,
  PolicyMessage,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./domain/message.ts";
export type { ModelContext, ModelProvider, ModelRequest, ModelResponse, ModelTool } from "./domain/model.ts";
export type { Clock, Inspect, InspectionRecord, Telemetry, TraceRecord } from "./domain/ports.ts";
export type {
  AgentHooks,
  PrepareNextTurn,
  QueueAnswer,
  RunOutcome,
  ShouldStopAfterTurn,
  TurnHookInput,
  TurnPreparation,
} from "./domain/run.ts";
export type {
  RunClaim,
  RunFact,
  RunListing,
  RunPage,
  RunProgress,
  RunStore,
  StoredOutcome,
  StoredPreparation,
  StoredRunStatus,
} from "./domain/run-store.ts";
export {
  type ArgumentsOf,
  type InputSchema,
  type JsonSchemaCheck,
  type JsonSchemaDialect,
  type JsonSchemaValidator,
  jsonSchema,
  type SchemaFault,
  type StandardSchema,
  type TypedJsonSchema,
} from "./domain/schema.ts";
export type {
  AnyTool,
  ConflictKeyContext,
  ConflictKeys,
  ExecutionMode,
  Tool,
  ToolArgs,
  ToolContext,
  ToolDefinition,
  ToolExecution,
  ToolPolicy,
  ToolRisk,
} from "./domain/tool.ts";
export { Agent } from "./host/agent.ts";
export type { AgentOptions, RunOptions } from "./host/agent-options.ts";
export type { Batch } from "./host/batch-handle.ts";
export type { ExecuteOptions, GivenCall, GivenResponse } from "./host/read-response.ts";
export type { UncertaintyResolution } from "./host/resolve-uncertain.ts";
export type { ResumeOptions } from "./host/resume-options.ts";
export type { Run, RunResult } from "./host/run-handle.ts";
export { createToolSession, type ToolSession } from "./host/session.ts";
export type { ToolSessionOptions } from "./host/session-options.ts";
export { type MemoryJournalOptions, memoryJournal } from "./journal/memory.ts";
export { type MemoryRunStoreOptions, memoryRunStore } from "./journal/run-store/memory.ts";
export { audienceFilter } from "./observe/audience.ts";
export type { EventListener } from "./observe/event-hub.ts";
export { formatSummary } from "./observe/format-summary.ts";
export { type RecordOptions, readJsonLines, recordJsonLines } from "./observe/json-lines.ts";
export type { GameAgentPerformanceSummary, PerformanceTimes } from "./observe/performance-summary.ts";
export type { RecordedEvent } from "./observe/recorded-event.ts";
export { summarize } from "./observe/summarize.ts";
export { createLanes, type Lanes } from "./plan/lanes.ts";
export { ajvValidator } from "./prepare/ajv-validator.ts";
export { type CompatOption, type CompatPreparer, type CompatStep, compat } from "./prepare/compat.ts";
export { defineTool } from "./prepare/define-tool.ts";
export { type FileKeyOptions, fileKey } from "./prepare/file-key.ts";
export { toolJsonSchema } from "./prepare/tool-json-schema.ts";
export type { Interpreter } from "./run/chart-actor.ts";
export { systemClock } from "./run/clock.ts";
