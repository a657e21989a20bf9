/**
 * The part of the official SDK's `Client` that this adapter uses. Structural, so that the SDK is no
 * dependency and several of its major versions fit.
 */
export interface McpClient {
  /** `resultSchema` is `never` so that any SDK's schema type fits; what is passed suits all of them. */
  request(request: McpRequest, resultSchema: never, options?: McpRequestOptions): Promise<unknown>;
  /** The current connection; the SDK clears it before it rejects what was under way. */
  readonly transport?: unknown;
  getServerCapabilities?(): { readonly tools?: unknown } | undefined;
}

/** A JSON-RPC request before the SDK gives it an id. */
export interface McpRequest {
  readonly method: "tools/list" | "tools/call";
  readonly params: Record<string, unknown>;
}

/** The SDK's per-request options that are used here. */
export interface McpRequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly onprogress?: (progress: McpProgress) => void;
}

/** What a progress notification says; also the `update` of the kernel's `toolProgressed` event. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Sends a request and returns the server's result as it came, an object of any shape.
 *
 * The SDK's own result schemas are left out on purpose: they refuse a whole `tools/list` for one odd
 * tool (PREP-8), and throw after a call has happened when its result is odd (UNC-1).
 */
export function requestRaw(client: McpClient, request: McpRequest, options?: McpRequestOptions): Promise<unknown> {
  // The cast only satisfies the placeholder type above: version 1 calls `safeParse` (or `parse`),
  // version 2 the Standard Schema, and the object has all three.
  return client.request(request, ANY_RESULT as never, options);
}

const ANY_RESULT = Object.freeze({
  parse: (value: unknown) => value,
  safeParse: (value: unknown) => ({ success: true, data: value }),
  "~standard": Object.freeze({ version: 1, vendor: "toolkernel", validate: (value: unknown) => ({ value }) }),
});
