/**
 * Owns the server processes of one play: what starts here is closed by `close`, also when a later
 * server does not start. Does not own the workspace or the tools made from the clients.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { KernelError } from "toolkernel";
import type { LoadedConversation, ServerDescription } from "./conversation-file.ts";
import { type Folders, fillText } from "./placeholders.ts";
import { resolvePackageBin } from "./resolve-package.ts";

/** One running server. */
export interface RunningServer {
  readonly name: string;
  readonly description: ServerDescription;
  readonly client: Client;
}

/** All servers of a conversation, connected. */
export interface RunningServers {
  readonly servers: readonly RunningServer[];
  /** Shuts every server down and waits until its process has ended; never rejects. */
  close(): Promise<void>;
}

/** Where servers work, and what stops a start that takes too long. */
export interface StartOptions {
  readonly workspace: string;
  readonly signal: AbortSignal;
}

const KEPT_WORDS_CHARACTERS = 2_000;

/**
 * Starts the servers of a conversation, one after another, and connects to them over stdio.
 * @throws KernelError `INVALID_OPTIONS` for a server that cannot be started as the file says; those
 *   that had started are shut down before
 */
export async function startServers(loaded: LoadedConversation, options: StartOptions): Promise<RunningServers> {
  const folders = { workspace: options.workspace, directory: loaded.directory };
  const servers: RunningServer[] = [];
  const close = async () => {
    await Promise.all(servers.map(({ client }) => client.close().catch(() => undefined)));
  };
  try {
    for (const [name, description] of Object.entries(loaded.conversation.servers ?? {})) {
      servers.push({ name, description, client: await startServer(description, folders, options.signal) });
    }
  } catch (error) {
    await close();
    const place = `/servers/${Object.keys(loaded.conversation.servers ?? {})[servers.length] ?? ""}`;
    const words = `${loaded.path}: ${place}: ${error instanceof Error ? error.message : String(error)}`;
    throw new KernelError("INVALID_OPTIONS", words, { subject: place, cause: error });
  }
  return { servers, close };
}

async function startServer(description: ServerDescription, folders: Folders, signal: AbortSignal): Promise<Client> {
  const sdk = await loadSdk();
  const program = await programOf(description, folders);
  const env = Object.entries(description.env ?? {}).map(([key, value]) => [key, fillText(value, folders)]);
  const transport = new sdk.StdioClientTransport({
    command: program.command,
    args: [...program.args, ...(description.args ?? []).map((text) => fillText(text, folders))],
    env: Object.fromEntries(env),
    cwd: folders.workspace,
    stderr: "pipe",
  });
  const lastWords = keepLastWords(transport);
  const client = new sdk.Client({ name: "toolkernel", version: "1" });
  try {
    await client.connect(transport, { signal });
  } catch (error) {
    await client.close().catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the server did not start: ${reason}.${lastWords()}`, { cause: error });
  }
  return client;
}

/** The SDK is an optional peer of the package: who only embeds the kernel does not have it. */
async function loadSdk(): Promise<{ Client: typeof Client; StdioClientTransport: typeof StdioClientTransport }> {
  try {
    const [client, stdio] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      import("@modelcontextprotocol/sdk/client/stdio.js"),
    ]);
    return { Client: client.Client, StdioClientTransport: stdio.StdioClientTransport };
  } catch (error) {
    throw new Error(
      "MCP servers need the package @modelcontextprotocol/sdk: run npm install @modelcontextprotocol/sdk.",
      {
        cause: error,
      },
    );
  }
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

async function programOf(description: ServerDescription, folders: Folders): Promise<Program> {
  if (description.package !== undefined) {
    const from = [folders.directory, process.cwd()];
    const script = await resolvePackageBin({ name: description.package, bin: description.bin, from });
    return { command: process.execPath, args: [script] };
  }
  const command = fillText(description.command ?? "", folders);
  return { command: command === "node" ? process.execPath : command, args: [] };
}

/** What a server writes beside the protocol is shown only if it does not start. */
function keepLastWords(transport: StdioClientTransport): () => string {
  let words = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    words = `${words}${chunk.toString("utf8")}`.slice(-KEPT_WORDS_CHARACTERS);
  });
  return () => (words.trim() === "" ? "" : ` It said: ${words.trim()}`);
}
