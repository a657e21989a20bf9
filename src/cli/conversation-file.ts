import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { type ExecutionMode, KernelError, type StopReason, type ToolCall, type ToolRisk } from "toolkernel";
import { conversationSchema } from "./conversation-schema.ts";
import type { WorldDescription } from "./world.ts";

/** A conversation file; its JSON Schema says what each field means. */
export interface Conversation {
  readonly version: 1;
  readonly title?: string;
  readonly workspace?: { readonly files?: Readonly<Record<string, FileContent>> };
  readonly servers?: Readonly<Record<string, ServerDescription>>;
  readonly world?: WorldDescription;
  readonly limits?: Readonly<Record<string, number>>;
  readonly turns: readonly Turn[];
}

/** The text of a file, its lines, or numbered lines to make. */
export type FileContent = string | readonly string[] | { readonly lines: number; readonly each?: string };

/** How to start one MCP server, and what is known of its tools. */
export interface ServerDescription {
  readonly package?: string;
  readonly bin?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly trusted?: boolean;
  readonly prefix?: string;
  readonly only?: readonly string[];
  readonly tools?: Readonly<Record<string, PolicyDescription>>;
}

/** A tool policy as JSON. */
export interface PolicyDescription {
  readonly risk?: ToolRisk;
  readonly executionMode?: ExecutionMode;
  readonly timeoutMs?: number;
  readonly trackExactRepeats?: boolean;
  readonly throwMeans?: "uncertain" | "failed";
  readonly conflictKey?: KeyDescription | readonly KeyDescription[];
}

/** How one conflict key is made from a call's arguments. */
export type KeyDescription = { readonly file: string } | { readonly template: string };

/** One model response. */
export interface Turn {
  readonly user?: string;
  readonly text?: string;
  readonly calls: readonly ToolCall[];
  readonly stopReason?: StopReason;
  /** Whether the world is asked, before this response, what became of uncertain actions. */
  readonly reconcile?: boolean;
}

/** A conversation and the folder its file lies in. */
export interface LoadedConversation {
  readonly path: string;
  readonly directory: string;
  readonly conversation: Conversation;
}

/**
 * Reads and checks a conversation file.
 * @throws KernelError `INVALID_OPTIONS`, naming the file and the place in it
 */
export async function loadConversation(path: string): Promise<LoadedConversation> {
  const document = parseDocument(path, await readDocument(path));
  const ajv = new Ajv2020({ allowUnionTypes: true, strictTypes: false, verbose: true });
  if (!ajv.validate(conversationSchema, document)) {
    throw fault(path, describeFault(ajv.errors ?? []));
  }
  // True because the schema, which a test holds against this type, has accepted it.
  const conversation = document as Conversation;
  if (conversation.servers === undefined && conversation.world === undefined) {
    throw fault(path, "the top level must have servers, a world, or both.");
  }
  return { path, directory: dirname(resolve(path)), conversation };
}

async function readDocument(path: string): Promise<string> {
  try {
    // Editors of some systems put a byte order mark in front.
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw fault(path, `the file cannot be read (${code}).`);
  }
}

function parseDocument(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const place = position === undefined ? "" : ` at ${lineAndColumn(text, Number(position))}`;
    throw fault(path, `this is not valid JSON${place}: ${message}.`);
  }
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

/** Ajv lists a fault once per branch of the schema; the deepest place is where the author has to look. */
function describeFault(errors: readonly ErrorObject[]): string {
  const [deepest] = errors.toSorted((one, other) => depth(other) - depth(one));
  if (deepest === undefined) {
    return "the file does not fit the schema.";
  }
  const { params, keyword, message = "is wrong", propertyName } = deepest;
  const place = deepest.instancePath === "" ? "the top level" : deepest.instancePath;
  if (propertyName !== undefined) {
    const wanted: unknown = deepest.parentSchema?.description;
    return `${place} has the name ${JSON.stringify(propertyName)}, which must be ${wanted ?? "another"}.`;
  }
  const detail = [params.additionalProperty, params.allowedValues, params.allowedValue]
    .filter((value) => value !== undefined)
    .map((value) => JSON.stringify(value))
    .join(", ");
  const words = keyword === "false schema" ? "does not belong here" : message;
  return `${place} ${words}${detail === "" ? "" : `: ${detail}`}.`;
}

function depth(error: ErrorObject): number {
  return error.instancePath.split("/").length;
}

function fault(path: string, words: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `${path}: ${words}`, { subject: path });
}
