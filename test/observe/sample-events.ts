import type { KernelEvent, KernelEventKind, KernelEventMap } from "toolkernel";

/** What must be in no trace record. */
export const SECRET = "s3cr3t";

/** Every field of every kind; all that a host, a model or a tool says holds the secret. */
export type FullFields = { readonly [Kind in KernelEventKind]: Required<KernelEventMap[Kind]> };

const CALL = { callId: "call-1", callIndex: 2, toolName: "edit", operationId: "op-1", epoch: 3 };

/** One event's fields for each kind, every optional one filled in. */
export const FULL_FIELDS: FullFields = {
  runStarted: {},
  runResumed: {},
  turnStarted: {},
  modelRequestStarted: {},
  messageStarted: {},
  messageUpdated: {
    delta: { type: "toolCall", id: SECRET, name: SECRET, argumentsText: `{"password":"${SECRET}"}` },
  },
  messageEnded: {
    message: {
      role: "toolResult",
      callId: SECRET,
      toolName: SECRET,
      callIndex: 2,
      content: [{ type: "text", text: SECRET }],
      details: { [SECRET]: SECRET },
      isError: true,
      failureCategory: "timeout",
      outcomeUncertain: true,
      terminate: false,
      providerData: { signature: SECRET },
    },
  },
  messageQueued: { queue: "steering" },
  toolStarted: CALL,
  toolPrepared: { ...CALL, conflictKeys: [`file:/home/${SECRET}`, `file:/tmp/${SECRET}`, `file:/home/${SECRET}`] },
  toolRefused: { ...CALL, failureCategory: "authorization", reason: SECRET },
  approvalRequested: { ...CALL, approvalId: "approval-1", ask: { [SECRET]: SECRET } },
  toolRepeatDetected: { ...CALL, action: "advisory", count: 3 },
  epochStarted: { epoch: 3, callIds: ["call-1", "call-2"] },
  toolDispatched: { ...CALL, isWrite: true, waitedMs: 6, barrierMs: 1, keyMs: 2, queueMs: 3 },
  toolProgressed: { ...CALL, update: { [SECRET]: SECRET } },
  toolBlocked: { ...CALL, blockedBy: "call-0" },
  toolEnded: {
    ...CALL,
    outcome: "uncertain",
    isWrite: true,
    failureCategory: "timeout",
    outcomeUncertain: true,
    durationMs: 40,
    action: {
      disposition: "replayed",
      duplicateExecutionPrevented: true,
      recovered: false,
      hostMs: 5,
      frameworkMs: 7,
      status: "committed",
    },
    result: {
      content: [{ type: "json", value: { [SECRET]: SECRET } }],
      details: { receipt: SECRET },
      isError: true,
      failureCategory: "timeout",
      outcomeUncertain: true,
      terminate: false,
    },
  },
  toolLateSettled: { ...CALL, returned: true },
  toolUncertaintyResolved: { ...CALL, status: "committed" },
  epochSettled: { epoch: 3 },
  turnEnded: { toolCalls: 2 },
  runFaulted: { code: "KERNEL_STUCK" },
  runEnded: { status: "stopped", endedBy: "shouldStop" },
};

/** Every kind, in the order of the table. */
export const KINDS = Object.keys(FULL_FIELDS) as KernelEventKind[];

/** An event of a kind with every field filled in, and one more that nobody knows of. */
export function fullEvent(kind: KernelEventKind): KernelEvent {
  const base = { seq: 7, timeMs: 1_000, runId: "run-1", turn: 4, audience: "internal" };
  return { kind, ...base, ...FULL_FIELDS[kind], notYetKnown: SECRET } as unknown as KernelEvent; // the table's own kind
}
