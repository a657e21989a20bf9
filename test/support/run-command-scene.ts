/**
 * Conversations for `toolkernel run`, in a temporary folder of each test file's own.
 * Owns: that folder, and TMPDIR while tests run, so that what a run leaves there is seen and nobody else's.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Conversation, Turn } from "../../src/cli/conversation-file.ts";

const SUPPORT = join(process.cwd(), "test/support");

let folder = "";
let files = 0;
const { TMPDIR } = process.env;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "run-command-"));
  process.env.TMPDIR = folder;
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  if (TMPDIR === undefined) {
    delete process.env.TMPDIR;
  } else {
    process.env.TMPDIR = TMPDIR;
  }
});

const KEYED = { executionMode: "parallel", conflictKey: { file: "path" } } as const;
/** A server of few tools, as a conversation names it. */
export const SMALL = {
  command: "node",
  args: [`${SUPPORT}/stdio-server.mjs`, "{workspace}"],
  trusted: true,
  tools: { note: KEYED, die: KEYED },
};

/** Writes a conversation with that server and answers where it lies. */
export async function conversationFile(turns: readonly Turn[], parts: Partial<Conversation> = {}): Promise<string> {
  files += 1;
  const path = join(folder, `conversation-${files}.json`);
  await writeFile(path, JSON.stringify({ version: 1, servers: { small: SMALL }, turns, ...parts }));
  return path;
}

/** A response of calls, numbered in order. */
export function calls(...list: readonly (readonly [name: string, args: object])[]): Turn {
  return {
    calls: list.map(([name, args], index) => ({ id: `id${index}`, name, arguments: args as Record<string, string> })),
  };
}

/** The objects of an output, a line each. */
export function objects(out: string): Record<string, unknown>[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The folders that runs have made and not removed. */
export async function foldersLeft(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("toolkernel-"));
}
