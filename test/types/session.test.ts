import type {
  Approval,
  ApprovalDecisions,
  AuthorizeDecision,
  BatchResult,
  ClosedBy,
  ContentPart,
  DraftResponse,
  ExecuteOptions,
  FailureCategory,
  GivenResponse,
  Hook,
  JsonObject,
  KernelErrorCode,
  KernelEvent,
  KernelEventKind,
  Outcome,
  PolicyMessage,
  RewriteDecision,
  SessionHooks,
  SettledCall,
  ToolCall,
  ToolExecution,
  ToolResultMessage,
  ToolRisk,
  ToolSession,
  ToolSessionOptions,
} from "toolkernel";
import { describe, expectTypeOf, it } from "vitest";

/** A type whose every optional property may also be undefined, to compare with one that has to be so already. */
type WithUndefined<Shape> = {
  [Key in keyof Shape]: undefined extends Shape[Key] ? Shape[Key] | undefined : Shape[Key];
};

describe("inputs", () => {
  it("take undefined wherever they may be left out", () => {
    expectTypeOf<ToolSessionOptions>().toEqualTypeOf<WithUndefined<ToolSessionOptions>>();
    expectTypeOf<ExecuteOptions>().toEqualTypeOf<WithUndefined<ExecuteOptions>>();
    expectTypeOf<SessionHooks>().toEqualTypeOf<WithUndefined<SessionHooks>>();
    expectTypeOf<{
      tools: [];
      limits: undefined;
      hooks: undefined;
      lanes: undefined;
      clock: undefined;
    }>().toExtend<ToolSessionOptions>();
    expectTypeOf<{ signal: undefined; turn: undefined; approvals: undefined }>().toExtend<ExecuteOptions>();
    expectTypeOf<{ maxTurns: undefined }>().toExtend<NonNullable<ToolSessionOptions["limits"]>>();
    expectTypeOf<{ block: "no"; terminate: undefined }>().toExtend<AuthorizeDecision>();
  });

  it("take a list of calls, or a whole response, read-only or not", () => {
    expectTypeOf<ToolCall[]>().toExtend<GivenResponse>();
    expectTypeOf<readonly ToolCall[]>().toExtend<GivenResponse>();
    expectTypeOf<DraftResponse>().toExtend<GivenResponse>();
    expectTypeOf<{ name: string }[]>().toExtend<GivenResponse>();
    expectTypeOf<{ id: null; name: string; arguments: undefined }[]>().toExtend<GivenResponse>();
    expectTypeOf<{ id: string }[]>().not.toExtend<GivenResponse>();
    expectTypeOf<{ id: string; name: string; arguments: number }[]>().not.toExtend<GivenResponse>();
  });

  it("take hooks as functions or with a time-out of their own", () => {
    expectTypeOf<{ run: () => undefined; timeoutMs: null }>().toExtend<Hook<() => undefined>>();
    expectTypeOf<{ run: () => undefined; timeoutMs: 5 }>().toExtend<Hook<() => undefined>>();
    expectTypeOf<{ run: () => undefined }>().not.toExtend<Hook<() => undefined>>();
    expectTypeOf<() => true>().toExtend<NonNullable<SessionHooks["authorizeToolCall"]>>();
    expectTypeOf<() => Promise<undefined>>().toExtend<NonNullable<SessionHooks["authorizeToolCall"]>>();
  });

  it("know what a hook may answer", () => {
    expectTypeOf<AuthorizeDecision>().toEqualTypeOf<
      | undefined
      | true
      | { readonly block: string; readonly terminate?: boolean | undefined }
      | { readonly ask: JsonObject }
    >();
    expectTypeOf<RewriteDecision>().toEqualTypeOf<
      | undefined
      | { readonly block: string; readonly terminate?: boolean | undefined }
      | { readonly arguments: JsonObject }
    >();
    expectTypeOf<false>().not.toExtend<AuthorizeDecision>();
    expectTypeOf<{ arguments: JsonObject }>().not.toExtend<AuthorizeDecision>();
    expectTypeOf<true>().not.toExtend<RewriteDecision>();
  });

  it("answer approvals by true or a block", () => {
    expectTypeOf<{ a: true; b: { block: string } }>().toExtend<ApprovalDecisions>();
    expectTypeOf<{ a: false }>().not.toExtend<ApprovalDecisions>();
  });
});

describe("outputs", () => {
  it("are exact", () => {
    expectTypeOf<{ messages: []; settled: []; closed: false; closedBy: undefined }>().not.toExtend<BatchResult>();
    expectTypeOf<BatchResult["messages"]>().toEqualTypeOf<readonly (ToolResultMessage | PolicyMessage)[]>();
    expectTypeOf<BatchResult["settled"]>().toEqualTypeOf<readonly SettledCall[]>();
    expectTypeOf<Required<BatchResult>["approvals"]>().toEqualTypeOf<readonly Approval[]>();
    expectTypeOf<keyof Approval>().toEqualTypeOf<
      "approvalId" | "operationId" | "callId" | "callIndex" | "toolName" | "arguments" | "conflictKeys" | "ask"
    >();
  });

  it("name outcomes, closers, categories, risks and modes as the surface does", () => {
    expectTypeOf<Outcome>().toEqualTypeOf<
      "succeeded" | "failed" | "refused" | "blocked" | "cancelled" | "uncertain" | "repeatTerminated"
    >();
    expectTypeOf<ClosedBy>().toEqualTypeOf<
      "projectionFailed" | "exactToolRepeat" | "allTerminate" | "stopReason" | "maxToolCalls"
    >();
    expectTypeOf<FailureCategory>().toEqualTypeOf<
      | ("invalidArguments" | "authorization" | "ruleRejected" | "transient" | "timeout")
      | ("cancelled" | "conflict" | "internal" | "unspecified")
    >();
    expectTypeOf<ToolRisk>().toEqualTypeOf<"readOnly" | "idempotentWrite" | "nonIdempotentWrite">();
    expectTypeOf<ToolExecution>().toEqualTypeOf<"sequential" | "safeParallel" | "parallel">();
    expectTypeOf<DraftResponse["stopReason"]>().toEqualTypeOf<"stop" | "toolUse" | "length" | "error" | "aborted">();
    expectTypeOf<KernelErrorCode>().toEqualTypeOf<
      | ("INVALID_OPTIONS" | "INVALID_TOOL_SCHEMA" | "DUPLICATE_TOOL" | "JOURNAL_UNAVAILABLE" | "JOURNAL_FULL")
      | ("JOURNAL_CORRUPT" | "JOURNAL_VERSION" | "JOURNAL_UNSAFE" | "INTENT_MISMATCH" | "OPERATION_FORGOTTEN")
      | ("OPERATION_UNKNOWN" | "RECEIPT_MISMATCH" | "RECEIPT_IMMUTABLE" | "RUN_NOT_FOUND" | "RUN_CLAIMED")
      | "KERNEL_STUCK"
    >();
  });

  it("let content be text, JSON, media or a resource", () => {
    expectTypeOf<ContentPart["type"]>().toEqualTypeOf<"text" | "json" | "image" | "audio" | "file" | "resource">();
  });

  it("narrow events by their kind", () => {
    expectTypeOf<KernelEvent["kind"]>().toEqualTypeOf<KernelEventKind>();
    const read = (event: KernelEvent): void => {
      if (event.kind === "toolRepeatDetected") {
        expectTypeOf(event.action).toEqualTypeOf<"advisory" | "terminated">();
        expectTypeOf(event.count).toEqualTypeOf<number>();
        expectTypeOf(event.callIndex).toEqualTypeOf<number>();
      }
      if (event.kind === "approvalRequested") {
        expectTypeOf(event.approvalId).toEqualTypeOf<string>();
        expectTypeOf(event.ask).toEqualTypeOf<JsonObject>();
      }
      if (event.kind === "toolRefused") expectTypeOf(event.failureCategory).toEqualTypeOf<FailureCategory>();
      if (event.kind === "epochStarted") expectTypeOf(event.callIds).toEqualTypeOf<readonly string[]>();
    };
    expectTypeOf(read).returns.toEqualTypeOf<void>();
  });

  it("let a session be closed by await using", () => {
    expectTypeOf<ToolSession>().toExtend<AsyncDisposable>();
    expectTypeOf<ReturnType<ToolSession["execute"]>["result"]>().toEqualTypeOf<Promise<BatchResult>>();
    expectTypeOf<ReturnType<ToolSession["execute"]>>().toExtend<AsyncIterable<KernelEvent>>();
  });
});
