import type { ToolCall } from "toolkernel";
import { type Folders, fillCall } from "./placeholders.ts";
import type { FileTexts } from "./workspace.ts";

/** The files that one way of playing has left, and the folders its calls were filled with. */
export interface ResultingFiles {
  readonly folders: Folders;
  readonly texts: FileTexts;
}

/** What is compared. */
export interface Comparison {
  /** The files as they were laid. */
  readonly before: FileTexts;
  readonly kernel: ResultingFiles;
  readonly other: ResultingFiles;
  /** The write calls of the conversation as the file has them, with a label for each. */
  readonly writes: readonly LabelledCall[];
}

/** A call and the name it has on the screen. */
export interface LabelledCall {
  readonly label: string;
  readonly call: ToolCall;
}

/** What became of one file; `kept` and `lost` are labels of calls. */
export interface FileComparison {
  readonly path: string;
  /** Calls that were to bring text into this file. */
  readonly asked: readonly string[];
  readonly keptByKernel: readonly string[];
  readonly keptByOther: readonly string[];
  /** Whether both ways left the same bytes. */
  readonly same: boolean;
}

/**
 * Counts, file by file, which calls' text is in the file that each way of playing has left. It knows no
 * tool: a call is an edit of a file when it names the file's path and brings a text that was not in it,
 * and the edit is kept when every such text is there at the end. Files that nothing happened to are left out.
 */
export function compareFiles(comparison: Comparison): readonly FileComparison[] {
  const { before, kernel, other } = comparison;
  const paths = [...new Set([...before.keys(), ...kernel.texts.keys(), ...other.texts.keys()])].toSorted();
  return paths.map((path) => compareFile(path, comparison)).filter(({ asked, same }) => asked.length > 0 || !same);
}

function compareFile(path: string, { before, kernel, other, writes }: Comparison): FileComparison {
  const file = { path, old: before.get(path) ?? "" };
  const edits = writes.filter(({ call }) => broughtTexts(call, file, kernel.folders).length > 0);
  const keptBy = ({ folders, texts }: ResultingFiles) => {
    const text = texts.get(path) ?? "";
    return edits
      .filter(({ call }) => broughtTexts(call, file, folders).every((brought) => text.includes(brought)))
      .map(({ label }) => label);
  };
  return {
    path,
    asked: edits.map(({ label }) => label),
    keptByKernel: keptBy(kernel),
    keptByOther: keptBy(other),
    same: kernel.texts.get(path) === other.texts.get(path),
  };
}

interface OldFile {
  readonly path: string;
  readonly old: string;
}

/** The texts among a call's arguments that were not in the file; none if the call does not name the file. */
function broughtTexts(call: ToolCall, { path, old }: OldFile, folders: Folders): readonly string[] {
  const texts = textsIn(parsedArguments(fillCall(call, folders)));
  const isPath = (text: string) => text === path || text === `${folders.workspace}/${path}`;
  return texts.some(isPath) ? texts.filter((text) => text !== "" && !isPath(text) && !old.includes(text)) : [];
}

function parsedArguments(call: ToolCall): unknown {
  if (typeof call.arguments !== "string") {
    return call.arguments;
  }
  try {
    return JSON.parse(call.arguments);
  } catch {
    return undefined;
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") {
    return [value];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
