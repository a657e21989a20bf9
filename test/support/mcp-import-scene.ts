import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { Tool } from "toolkernel";
import { type FromMcpOptions, fromMcp } from "toolkernel/mcp";
import { z } from "zod";
import { closeBehindTest } from "./open-clients-scene.ts";
import { connectRaw } from "./raw-mcp-server.ts";

/** Connects a client to a server of the SDK. */
export async function connectTo(server: McpServer): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  closeBehindTest(client);
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  return client;
}

/** A server whose tools have these hints; each answers its name and path. */
export function hintedServer(tools: Readonly<Record<string, ToolAnnotations | undefined>>): McpServer {
  const server = new McpServer({ name: "hinted", version: "1.0.0" });
  for (const [name, annotations] of Object.entries(tools)) {
    const options = { description: `Does ${name}`, inputSchema: { path: z.string() } };
    server.registerTool(name, annotations === undefined ? options : { ...options, annotations }, ({ path }) => ({
      content: [{ type: "text", text: `${name} ${path}` }],
    }));
  }
  return server;
}

/** Imports what a server lists that speaks JSON-RPC by hand. */
export async function importFromRaw(list: (params: object) => unknown, options?: FromMcpOptions): Promise<Tool[]> {
  const { client } = await connectRaw((request, reply) => reply.result(list(request.params)));
  closeBehindTest(client);
  return fromMcp(client, options);
}
