import { KernelError } from "toolkernel";
import { readGiven } from "../../domain/check-options.ts";
import { isRecord } from "./is-record.ts";
import { type McpClient, requestRaw } from "./mcp-client.ts";

/** One entry of `tools/list` after its fields were looked at; the rest of the entry is not used. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** Absent when the server gave none that is an object. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  /** The server's hints, for trusted servers alone. */
  readonly readOnlyHint: boolean;
  readonly idempotentHint: boolean;
  /** The server runs this tool as a task only. */
  readonly requiresTask: boolean;
}

const MAXIMUM_PAGES = 1_000;

/**
 * Lists all tools of a server, page after page, in the server's order. Entries without a name are left
 * out, since nobody can call them; of several with one name the first counts.
 * @throws KernelError `INVALID_OPTIONS` when the list does not end; the client's own error when listing fails.
 */
export async function listTools(client: McpClient): Promise<readonly ListedTool[]> {
  const capabilities = client.getServerCapabilities?.();
  if (capabilities !== undefined && capabilities.tools === undefined) {
    return [];
  }
  const tools = new Map<string, ListedTool>();
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await requestRaw(client, { method: "tools/list", params: cursor === undefined ? {} : { cursor } });
    for (const tool of readGiven("tools/list", () => readPage(page))) {
      if (!tools.has(tool.name)) {
        tools.set(tool.name, tool);
      }
    }
    cursor = nextCursor(page);
    assertListEnds(cursor, seenCursors);
  } while (cursor !== undefined);
  return [...tools.values()];
}

function readPage(page: unknown): readonly ListedTool[] {
  const entries = isRecord(page) && Array.isArray(page.tools) ? page.tools : [];
  return entries.flatMap((entry: unknown) => readTool(entry) ?? []);
}

function readTool(entry: unknown): ListedTool | undefined {
  if (!isRecord(entry) || typeof entry.name !== "string" || entry.name === "") {
    return undefined;
  }
  const annotations = isRecord(entry.annotations) ? entry.annotations : {};
  return {
    name: entry.name,
    description: [entry.description, entry.title].find((text) => typeof text === "string") ?? "",
    inputSchema: isRecord(entry.inputSchema) ? entry.inputSchema : undefined,
    readOnlyHint: annotations.readOnlyHint === true,
    idempotentHint: annotations.idempotentHint === true,
    requiresTask: isRecord(entry.execution) && entry.execution.taskSupport === "required",
  };
}

/** An empty cursor counts as none: some servers send it with the last page. */
function nextCursor(page: unknown): string | undefined {
  const cursor = isRecord(page) ? page.nextCursor : undefined;
  return typeof cursor === "string" && cursor !== "" ? cursor : undefined;
}

function assertListEnds(cursor: string | undefined, seenCursors: Set<string>): void {
  if (cursor === undefined) {
    return;
  }
  if (seenCursors.has(cursor) || seenCursors.size >= MAXIMUM_PAGES) {
    throw new KernelError(
      "INVALID_OPTIONS",
      `The MCP server's tools/list does not end: page ${seenCursors.size + 1} leads to a page seen before or beyond the ${MAXIMUM_PAGES} that are read. Ask the server's author to fix its paging.`,
      { subject: "client" },
    );
  }
  seenCursors.add(cursor);
}
