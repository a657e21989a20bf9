import type { FailureCategory } from "toolkernel";
import { isRecord } from "./is-record.ts";

/** What a rejected request says about the call. */
export type RejectionVerdict =
  /** The server said no: a settled failure. */
  | { readonly kind: "answered"; readonly message: string; readonly failureCategory: FailureCategory }
  /** The server answered, but the client could not read it: the call happened. */
  | { readonly kind: "unreadable" }
  /** Nothing reached the server. */
  | { readonly kind: "notSent" }
  /** Sent, and no answer will come: for a write the outcome is unknown. */
  | { readonly kind: "lost"; readonly why: string };

/** What the caller knows beside the error itself. */
export interface RequestFacts {
  /** Whether our own signal had told the client to stop. */
  readonly stopped: boolean;
  /** The time-out that the request was given, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the client still has the connection that it sent the request on. */
  readonly sameConnection: boolean;
}

const REQUEST_TIMED_OUT = -32_001;
const CONNECTION_CLOSED = -32_000;

const CATEGORY_BY_CODE: Readonly<Record<number, FailureCategory>> = {
  [-32_602]: "invalidArguments",
  // The tool first wants a person to visit a page.
  [-32_042]: "authorization",
};

/** Codes of Node's network errors that say that no connection was made. */
const NO_CONNECTION_CODES: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

/**
 * Tells an answer of the server from a lost one (UNC-1). Only what is known to be an answer, or known
 * to have never been sent, is certain; everything else is lost.
 *
 * Version 1 of the SDK uses one error class for both: a JSON-RPC error reply, which may carry any code,
 * and its own time-out (-32001) and closed connection (-32000). They differ in facts that a server
 * cannot forge into a false certainty:
 * - the SDK's own time-out carries the time-out in `data`, and ours is a number nobody else would choose;
 * - the SDK clears `client.transport` before it rejects what was under way on a closed connection;
 * - after our signal fired the SDK drops every reply, so a rejection then is never an answer.
 * Version 2 gives its own errors text codes.
 */
export function judgeRejection(error: unknown, facts: RequestFacts): RejectionVerdict {
  if (facts.stopped) {
    return { kind: "lost", why: "the call was stopped before the server answered" };
  }
  if (!(error instanceof Error)) {
    return { kind: "lost", why: "the client gave no reason" };
  }
  // Every field of an error can be asked for; what it holds is looked at below.
  const { message, code, data } = error as Error & { readonly code?: unknown; readonly data?: unknown };
  if (typeof code === "string") {
    return judgeTextCode(code, data);
  }
  if (typeof code === "number") {
    return "data" in error ? judgeReply({ message, code, data }, facts) : judgeHttpStatus(code);
  }
  // The words of both versions and of every transport, and without a code: a reply always has one.
  if (message === "Not connected" || hasNoConnectionCause(error)) {
    return { kind: "notSent" };
  }
  return { kind: "lost", why: "the connection failed" };
}

interface ReplyError {
  readonly message: string;
  readonly code: number;
  readonly data: unknown;
}

/** Errors of this form have `data`, be it undefined; those of the HTTP transport, whose codes are statuses, do not. */
function judgeReply({ message, code, data }: ReplyError, facts: RequestFacts): RejectionVerdict {
  if (code === REQUEST_TIMED_OUT && isRecord(data) && data.timeout === facts.timeoutMs) {
    return { kind: "lost", why: "the client's time-out passed" };
  }
  if (code === CONNECTION_CLOSED && !facts.sameConnection) {
    return { kind: "lost", why: "the connection closed before the server answered" };
  }
  return { kind: "answered", message, failureCategory: CATEGORY_BY_CODE[code] ?? "unspecified" };
}

function judgeTextCode(code: string, data: unknown): RejectionVerdict {
  switch (code) {
    case "NOT_CONNECTED":
    case "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION":
      return { kind: "notSent" };
    case "INVALID_RESULT":
      return { kind: "unreadable" };
    case "REQUEST_TIMEOUT":
      return { kind: "lost", why: "the client's time-out passed" };
    case "CONNECTION_CLOSED":
      return { kind: "lost", why: "the connection closed before the server answered" };
    default:
      return judgeHttpStatus(isRecord(data) ? data.status : undefined);
  }
}

/** A status of 4xx is the server refusing the request, except 408, by which it stops waiting for it. */
function judgeHttpStatus(status: unknown): RejectionVerdict {
  if (typeof status !== "number" || status < 400 || status > 499 || status === 408) {
    return { kind: "lost", why: "the connection failed" };
  }
  const failureCategory = status === 401 || status === 403 ? "authorization" : "unspecified";
  return {
    kind: "answered",
    message: `The MCP server refused the request with HTTP status ${status}.`,
    failureCategory,
  };
}

function hasNoConnectionCause(error: Error): boolean {
  return isRecord(error.cause) && NO_CONNECTION_CODES.includes(error.cause.code);
}
