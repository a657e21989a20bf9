import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { createToolSession } from "toolkernel";
import { fromMcp } from "toolkernel/mcp";

/** A call as the host's model gave it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, string>;
}

/** Answers the calls of one response with the tools of an MCP server. */
export async function answer(client: Client, calls: readonly Call[]): Promise<string[]> {
  const take = { executionMode: "parallel", conflictKey: ({ item }: { item?: unknown }) => String(item) } as const;
  const tools = await fromMcp(client, { tools: { count: { risk: "readOnly" }, take } });
  await using session = createToolSession({ tools });
  const { settled } = await session.execute(calls).result;
  return settled.map(({ result }) => JSON.stringify(result.content));
}
