import { isUtf8 } from "node:buffer";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { Conversation, FileContent } from "./conversation-file.ts";

/** The contents of a folder: text by path, with `/` between the parts of a path. */
export type FileTexts = ReadonlyMap<string, string>;

/** Makes a fresh temporary folder with the conversation's files; returns its real path. */
export async function layWorkspace(conversation: Conversation): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "toolkernel-")));
  try {
    for (const [path, content] of Object.entries(conversation.workspace?.files ?? {})) {
      const target = join(folder, ...path.split("/"));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, textOf(content));
    }
  } catch (error) {
    await removeWorkspace(folder);
    throw error;
  }
  return folder;
}

/** Removes a folder and all that is in it. */
export async function removeWorkspace(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Reads every file under a folder. Bytes that are not UTF-8 become one character each, so that none is lost. */
export async function readWorkspace(folder: string): Promise<FileTexts> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = new Map<string, string>();
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    texts.set(relative(folder, path).split(sep).join("/"), bytes.toString(isUtf8(bytes) ? "utf8" : "latin1"));
  }
  return texts;
}

/** The files as the conversation lays them, before anything is called. */
export function laidTexts(conversation: Conversation): FileTexts {
  return new Map(Object.entries(conversation.workspace?.files ?? {}).map(([path, content]) => [path, textOf(content)]));
}

function textOf(content: FileContent): string {
  if (typeof content === "string") {
    return content;
  }
  if ("lines" in content) {
    const each = content.each ?? "line {n}";
    return Array.from({ length: content.lines }, (_, index) => `${each.replaceAll("{n}", String(index + 1))}\n`).join(
      "",
    );
  }
  return content.map((line) => `${line}\n`).join("");
}
