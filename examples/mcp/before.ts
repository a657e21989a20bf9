import type { Client } from "@modelcontextprotocol/sdk/client/index.js";

/** A call as the host's model gave it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, string>;
}

/** Answers the calls of one response with the tools of an MCP server. */
export async function answer(client: Client, calls: readonly Call[]): Promise<string[]> {
  const results = calls.map((call) => client.callTool({ name: call.name, arguments: call.arguments }));
  const answers = await Promise.all(results);
  return answers.map((result) => JSON.stringify(result.content));
}
