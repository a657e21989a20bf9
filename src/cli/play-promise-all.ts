import type { ToolCall } from "toolkernel";
import type { Turn } from "./conversation-file.ts";
import { type Folders, fillCall } from "./placeholders.ts";
import type { RunningServer } from "./start-servers.ts";

/** What a play needs. */
export interface PromiseAllOptions {
  readonly turns: readonly Turn[];
  readonly folders: Folders;
  readonly servers: readonly RunningServer[];
  readonly signal: AbortSignal;
}

/** How many calls the servers said had worked. */
export interface PromiseAllPlayed {
  readonly calls: number;
  readonly succeeded: number;
}

/**
 * Plays turns as most hosts do: all calls of a response at once, with `Promise.all`
 * and the SDK's own `callTool`. No call rejects the others: an error counts as not succeeded.
 */
export async function playPromiseAll(options: PromiseAllOptions): Promise<PromiseAllPlayed> {
  const offered = await offeredTools(options.servers);
  let calls = 0;
  let succeeded = 0;
  for (const turn of options.turns) {
    const filled = turn.calls.map((call) => fillCall(call, options.folders));
    const answers = await Promise.all(filled.map((call) => callSucceeds(call, offered, options.signal)));
    calls += answers.length;
    succeeded += answers.filter((answer) => answer).length;
  }
  return { calls, succeeded };
}

interface Offered {
  readonly server: RunningServer;
  readonly name: string;
}

async function offeredTools(servers: readonly RunningServer[]): Promise<ReadonlyMap<string, Offered>> {
  const offered = new Map<string, Offered>();
  for (const server of servers) {
    let cursor: string | undefined;
    do {
      const page = await server.client.listTools(cursor === undefined ? {} : { cursor });
      for (const { name } of page.tools) {
        offered.set(`${server.description.prefix ?? ""}${name}`, { server, name });
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return offered;
}

async function callSucceeds(
  call: ToolCall,
  offered: ReadonlyMap<string, Offered>,
  signal: AbortSignal,
): Promise<boolean> {
  const target = offered.get(call.name);
  if (target === undefined) {
    return false;
  }
  try {
    const args = typeof call.arguments === "string" ? JSON.parse(call.arguments) : call.arguments;
    // The SDK leaves its listener on the signal it is given; a signal for each call keeps them from piling up.
    const options = { signal: AbortSignal.any([signal]) };
    const result = await target.server.client.callTool({ name: target.name, arguments: args }, undefined, options);
    return result.isError !== true;
  } catch {
    return false;
  }
}
