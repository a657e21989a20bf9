import type { JsonObject, Tool, ToolPolicy, ToolRisk } from "toolkernel";
import { checkGiven, mustHaveMethods, type OptionCheck, readGiven } from "../../domain/check-options.ts";
import { callTool } from "./call-tool.ts";
import { assertImportOptions, assertKnownTools, type FromMcpOptions } from "./import-options.ts";
import { type ListedTool, listTools } from "./list-tools.ts";
import type { McpClient } from "./mcp-client.ts";

/**
 * Turns the tools of an MCP server into tools of the kernel, in the server's order. `client` is a
 * connected client of the official SDK, which stays the host's: nothing here closes it. After a
 * `tools/list_changed` call it again and hand the tools to `session.setTools`.
 *
 * - **Risk**: without `trusted: true` a tool is a non-idempotent write without a key, thus a barrier
 *   (EPOCH-7). With it `readOnlyHint` makes a read, else `idempotentHint` an idempotent write; the other
 *   hints say nothing that the kernel asks. A policy wins over the hints.
 * - **Outcome** (UNC-1): a result with `isError` and a JSON-RPC error are settled failures. An abort, a
 *   connection that closed after sending and the client's own time-out leave a write uncertain. Where
 *   nothing was sent, that is certain too.
 * - **Schemas**: one that is odd or missing makes its own tool unavailable, not the server (PREP-8).
 * - A tool that the server runs only as a task is refused when it is called.
 *
 * @throws KernelError `INVALID_OPTIONS` for what is no client, for an unknown option, tool name or policy field, and for a
 *   tool list without end; the client's own error when listing fails
 */
export async function fromMcp(client: McpClient, options: FromMcpOptions = {}): Promise<Tool[]> {
  readGiven("options", () => assertImportOptions(options));
  checkGiven(client, "client", mustBeClient);
  const listed = await listTools(client);
  assertKnownTools(options, new Set(listed.map((tool) => tool.name)));
  const only = options.only === undefined ? undefined : new Set(options.only);
  return listed
    .filter((tool) => only === undefined || only.has(tool.name))
    .map((tool) => importTool(client, tool, options));
}

const mustBeClient: OptionCheck = (value) => {
  const { getServerCapabilities: ask } = (value ?? {}) as Partial<McpClient>; // looked at, not trusted
  const isAskable = ask === undefined || typeof ask === "function";
  return (
    mustHaveMethods("request")(value) ?? (isAskable ? undefined : "must have a method getServerCapabilities, or none")
  );
};

function importTool(client: McpClient, listed: ListedTool, options: FromMcpOptions): Tool {
  const policy = policyOf(listed.name, options);
  const unusable = whyUnusable(listed);
  return {
    ...policy,
    ...(unusable === undefined ? {} : { validate: () => unusable }),
    name: `${options.prefix ?? ""}${listed.name}`,
    description: listed.description,
    inputSchema: listed.inputSchema ?? { type: "object" },
    risk: policy.risk ?? hintedRisk(listed, options),
    origin: "imported",
    execute: (args: JsonObject, context) => callTool({ client, toolName: listed.name, arguments: args, context }),
  };
}

function policyOf(name: string, options: FromMcpOptions): ToolPolicy {
  // A tool may be called "constructor": inherited fields are no policy.
  return options.tools !== undefined && Object.hasOwn(options.tools, name) ? (options.tools[name] ?? {}) : {};
}

function whyUnusable(listed: ListedTool): string | undefined {
  if (listed.requiresTask) {
    return `The MCP server runs ${listed.name} only as a task, which this host does not do. Use another tool.`;
  }
  if (listed.inputSchema === undefined) {
    return `The MCP server gives no input schema for ${listed.name}, so it cannot be called. Use another tool.`;
  }
  return undefined;
}

function hintedRisk(listed: ListedTool, options: FromMcpOptions): ToolRisk {
  if (options.trusted !== true) {
    return "nonIdempotentWrite";
  }
  if (listed.readOnlyHint) {
    return "readOnly";
  }
  return listed.idempotentHint ? "idempotentWrite" : "nonIdempotentWrite";
}
