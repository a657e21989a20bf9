import {
  type DeclaredResult,
  type JsonObject,
  OutcomeUnknownError,
  type ToolContext,
  ToolError,
  toolResult,
} from "toolkernel";
import { isRecord } from "./is-record.ts";
import { judgeRejection, type RejectionVerdict } from "./judge-rejection.ts";
import { type McpClient, type McpProgress, requestRaw } from "./mcp-client.ts";
import { readResult } from "./read-result.ts";

/** One `tools/call`, as the executor of an imported tool makes it. */
export interface McpCall {
  readonly client: McpClient;
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly context: Pick<ToolContext, "signal" | "progress">;
}

/**
 * The longest time-out a timer can have, about 25 days: the kernel's own time-out is the one that
 * counts (CAN-3), and the SDK's default of a minute would come before it.
 */
const CLIENT_TIMEOUT_MS = 2_147_483_647;

/**
 * Calls a tool of an MCP server.
 * @throws ToolError when the server answered with an error, or nothing was sent: certain (UNC-1)
 * @throws OutcomeUnknownError when the request was sent and no answer will come
 */
export async function callTool(call: McpCall): Promise<DeclaredResult> {
  const connection = call.client.transport;
  if ("transport" in call.client && connection === undefined) {
    throw notSent(call.toolName);
  }
  const stop = linkedStop(call.context.signal);
  let answer: unknown;
  try {
    answer = await requestRaw(
      call.client,
      { method: "tools/call", params: { name: call.toolName, arguments: call.arguments } },
      { signal: stop.signal, timeout: CLIENT_TIMEOUT_MS, onprogress: (progress) => reportProgress(progress, call) },
    );
  } catch (error) {
    const sameConnection = connection !== undefined && call.client.transport === connection;
    const facts = { stopped: stop.signal.aborted, timeoutMs: CLIENT_TIMEOUT_MS, sameConnection };
    return settleRejection(judgeRejection(error, facts), call.toolName, error);
  } finally {
    stop.unlink();
  }
  if (isTaskReceipt(answer)) {
    throw new OutcomeUnknownError(
      `The MCP server runs ${call.toolName} as a task that nobody asked for, and has not said how it ended.`,
    );
  }
  return readResult(answer) ?? unreadable(call.toolName);
}

/**
 * A signal of our own in place of the kernel's: the SDK sends the reason of an abort to the server, and
 * the host's reason is none of the server's business; and it keeps listening after the answer.
 */
function linkedStop(signal: AbortSignal): { readonly signal: AbortSignal; unlink(): void } {
  const controller = new AbortController();
  const forward = () => controller.abort("The call was cancelled.");
  if (signal.aborted) {
    forward();
  }
  signal.addEventListener("abort", forward, { once: true });
  return { signal: controller.signal, unlink: () => signal.removeEventListener("abort", forward) };
}

function reportProgress({ progress, total, message }: McpProgress, call: McpCall): void {
  call.context.progress({
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  });
}

function settleRejection(verdict: RejectionVerdict, toolName: string, cause: unknown): DeclaredResult {
  switch (verdict.kind) {
    case "answered":
      throw new ToolError(verdict.message, { failureCategory: verdict.failureCategory, cause });
    case "notSent":
      throw notSent(toolName, cause);
    case "lost":
      throw new OutcomeUnknownError(`The call of ${toolName} was sent to its MCP server, but ${verdict.why}.`);
    case "unreadable":
      return unreadable(toolName);
  }
}

/** It happened, and nobody knows what came of it: a failure that is not to be repeated. */
function unreadable(toolName: string): DeclaredResult {
  return toolResult({
    content: `The MCP server completed ${toolName}, but its answer could not be read. Do not repeat the call.`,
    isError: true,
    failureCategory: "internal",
  });
}

function notSent(toolName: string, cause?: unknown): ToolError {
  return new ToolError(`${toolName} was not called: its MCP server is not connected.`, {
    failureCategory: "transient",
    cause,
  });
}

/** The answer to a request for a task; this adapter makes none, but a server may send one all the same. */
function isTaskReceipt(answer: unknown): boolean {
  return (
    isRecord(answer) && answer.content === undefined && isRecord(answer.task) && typeof answer.task.taskId === "string"
  );
}
