import { readdirSync, readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Comment, type EcmaScriptModule, parseSync, visitorKeys } from "oxc-parser";

/** Any node of a syntax tree, as far as a walk needs to know it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** One parsed source; `path` is relative to the project's root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  readonly comments: readonly Comment[];
  readonly module: EcmaScriptModule;
}

/** The project's root folder, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Parses one source text; a text that does not parse is an error that names the file. */
export function parseSource(path: string, text: string): SourceFile {
  const { program, comments, module, errors } = parseSync(path, text, { preserveParens: false });
  const [error] = errors;
  if (error !== undefined) {
    throw new Error(`${path} does not parse: ${error.message}`);
  }
  // An ESTree program is a node like any other; the parser's own types just do not have an index.
  return { path, text, program: program as unknown as SyntaxNode, comments, module };
}

/** Paths of all files below the folders that are there, in order of their names. */
export function listFiles(folders: readonly string[], ending: string): string[] {
  return folders.flatMap(filesBelow).filter((path) => path.endsWith(ending));
}

/** Parses every TypeScript file below the folders. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return listFiles(folders, ".ts").map((path) => parseSource(path, readFileSync(ROOT + path, "utf8")));
}

/** Visits a node and everything below it, parents first; `ancestors` begins with the nearest. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => void,
  ancestors: readonly SyntaxNode[] = [],
): void {
  visit(node, ancestors);
  for (const child of childrenOf(node)) {
    walk(child, visit, [node, ...ancestors]);
  }
}

/** All nodes for which the question is answered with yes. */
export function findNodes(
  node: SyntaxNode,
  isWanted: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => boolean,
): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  walk(node, (each, ancestors) => {
    if (isWanted(each, ancestors)) {
      found.push(each);
    }
  });
  return found;
}

/** The nodes directly below a node, in source order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => [node[key]].flat().filter(isNode));
}

/** Whether a value found in a tree is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** The node under a key; an error where there is none. */
export function nodeAt(node: SyntaxNode, key: string): SyntaxNode {
  const value = node[key];
  if (!isNode(value)) {
    throw new Error(`${node.type} has no node ${key}`);
  }
  return value;
}

/** The nodes in the list under a key; none where there is no list. */
export function nodesAt(node: SyntaxNode, key: string): SyntaxNode[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The name an identifier has or the text a literal stands for; undefined for anything else. */
export function nameOf(node: SyntaxNode): string | undefined {
  const name = node.type === "Identifier" ? node.name : node.type === "Literal" ? node.value : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Where a place of a source is, as an editor would show it. */
export function placeOf(file: SourceFile, offset: number): string {
  return `${file.path}:${file.text.slice(0, offset).split("\n").length}`;
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(ROOT + folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, `${entry.parentPath}/${entry.name}`).split(sep).join("/"))
      .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
