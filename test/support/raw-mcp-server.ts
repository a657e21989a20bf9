import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

/** A request as the server got it. */
export interface RawRequest {
  readonly id: number | string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a hand-driven server can do with a request. */
export interface RawReply {
  result(result: unknown): void;
  error(code: number, message: string, data?: unknown): void;
  progress(progress: Readonly<Record<string, unknown>>): void;
  notify(method: string): void;
  close(): Promise<void>;
}

/** A connected client, and what its server has seen. */
export interface RawConnection {
  readonly client: Client;
  /** Every message in order, notifications included. */
  readonly seen: readonly JSONRPCMessage[];
}

/**
 * Connects a client of the official SDK to a server that speaks JSON-RPC by hand, so that it can answer
 * what no well-behaved server would. `answer` gets every request but `initialize`.
 */
export async function connectRaw(answer: (request: RawRequest, reply: RawReply) => void): Promise<RawConnection> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const seen: JSONRPCMessage[] = [];
  const send = (message: object) => void serverSide.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  serverSide.onmessage = (message) => {
    seen.push(message);
    if (!("method" in message && "id" in message)) {
      return;
    }
    const { id, method, params = {} } = message;
    if (method === "initialize") {
      const serverInfo = { name: "raw", version: "1.0.0" };
      const { protocolVersion } = params as { readonly protocolVersion: unknown };
      send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
      return;
    }
    answer({ id, method, params }, replyTo(id, params, send, serverSide));
  };
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(clientSide);
  return { client, seen };
}

function replyTo(
  id: number | string,
  params: Readonly<Record<string, unknown>>,
  send: (message: object) => void,
  side: InMemoryTransport,
): RawReply {
  const meta = params._meta as { readonly progressToken?: unknown } | undefined;
  return {
    result: (result) => send({ id, result }),
    error: (code, message, data) => send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } }),
    progress: (progress) =>
      send({ method: "notifications/progress", params: { progressToken: meta?.progressToken, ...progress } }),
    notify: (method) => send({ method }),
    close: () => side.close(),
  };
}

/** A `tools/list` answer with tools that take any object. */
export function listOf(...names: readonly string[]): { readonly tools: readonly object[] } {
  return { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) };
}

/** A raw server with the one tool `act`, whose calls `onCall` answers. */
export function connectActServer(onCall: (reply: RawReply, request: RawRequest) => void): Promise<RawConnection> {
  return connectRaw((request, reply) => {
    if (request.method === "tools/list") {
      reply.result(listOf("act"));
    } else {
      onCall(reply, request);
    }
  });
}
