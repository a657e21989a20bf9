import {
  type BatchResult,
  type GivenCall,
  type JsonObject,
  KernelError,
  type SessionHooks,
  type Telemetry,
  type ToolSession,
} from "toolkernel";
import { call, type RecordingTool, recordingTool, testSession } from "./run-calls.ts";

/** Asks for every call of a write, about its arguments. */
export const ASK_FOR_WRITES: SessionHooks = {
  authorizeToolCall: ({ tool, arguments: given }) => (tool.name === "write" ? { ask: { about: given } } : undefined),
};

export const READ_WRITE_WRITE = [
  call("read", '{"n":0}', "a"),
  call("write", '{"n":1}', "b"),
  call("write", '{"n":2}', "c"),
] as const;

export interface Waiting {
  readonly session: ToolSession;
  readonly asked: BatchResult;
  /** Approval ids by call id. */
  readonly ids: Readonly<Record<string, string>>;
  readonly read: RecordingTool;
  readonly write: RecordingTool;
}

/** Runs calls of `read` and `write` up to the questions about the writes. */
export async function startWaiting(
  calls: readonly GivenCall[] = READ_WRITE_WRITE,
  hooks = ASK_FOR_WRITES,
  telemetry?: Telemetry,
): Promise<Waiting> {
  const read = recordingTool();
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    conflictKey: (({ n }: JsonObject) => `k${n}`) as never,
  });
  const session = testSession({ tools: [read.tool, write.tool], hooks, telemetry });
  const asked = await session.execute(calls).result;
  return { session, asked, ids: idsOf(asked), read, write };
}

export function idsOf(result: BatchResult): Record<string, string> {
  return Object.fromEntries((result.approvals ?? []).map(({ callId, approvalId }) => [callId, approvalId]));
}

export function idOf(ids: Readonly<Record<string, string>>, callId: string): string {
  const id = ids[callId];
  if (id === undefined) throw new Error(`no approval of ${callId}`);
  return id;
}

/** What a misuse throws, as code and subject. */
export function misuseOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof KernelError ? `${error.code} ${error.subject}` : error;
  }
  return "nothing";
}
