import { readFileSync } from "node:fs";
import { posix } from "node:path";
import type { PackageEntry } from "../support/manifest.ts";
import { isNode, nameOf, nodesAt, parseSource, ROOT, type SourceFile, type SyntaxNode } from "../support/syntax.ts";

/** A name that a file exports, and the declaration behind it, however many re-exports lie between. */
export interface PublicName {
  readonly name: string;
  readonly declaredIn: string;
  readonly hasDocstring: boolean;
}

/** How names are followed: the entries that imports may name, and how a file is read (tests hand in their own). */
export interface Lookup {
  readonly entries: readonly PackageEntry[];
  readonly read: (path: string) => SourceFile;
}

/** Looks names up in the files of the project. */
export function lookupInProject(entries: readonly PackageEntry[]): Lookup {
  return { entries, read: (path) => parseSource(path, readFileSync(ROOT + path, "utf8")) };
}

/** Every name that a barrel gives to its importers, in order. */
export function publicNames(barrel: string, lookup: Lookup): PublicName[] {
  const file = lookup.read(barrel);
  return file.module.staticExports
    .flatMap(({ entries: exported }) => exported)
    .flatMap(({ exportName, importName, localName, moduleRequest }) => {
      const source = moduleRequest === null ? undefined : resolve(barrel, moduleRequest.value, lookup);
      if (moduleRequest !== null && exportName.name === null) {
        return source === undefined ? [] : publicNames(source, lookup);
      }
      const name = exportName.name ?? "default";
      const local = importName.name ?? localName.name ?? name;
      const found = source === undefined ? declared(file, local, lookup) : exportedFrom(source, local, lookup);
      return [{ name, declaredIn: found?.declaredIn ?? barrel, hasDocstring: found?.hasDocstring ?? false }];
    });
}

/** Whether a barrel holds nothing but explicit named exports from elsewhere. */
export function isPlainBarrel(file: SourceFile): boolean {
  return nodesAt(file.program, "body").every(
    (statement) =>
      statement.type === "ExportNamedDeclaration" && isNode(statement.source) && statement.declaration === null,
  );
}

function exportedFrom(path: string, name: string, lookup: Lookup): PublicName | undefined {
  return publicNames(path, lookup).find((each) => each.name === name);
}

function declared(file: SourceFile, name: string, lookup: Lookup): PublicName | undefined {
  const statements = nodesAt(file.program, "body").filter((statement) => declaredNames(statement).includes(name));
  if (statements.length > 0) {
    return { name, declaredIn: file.path, hasDocstring: statements.some(({ start }) => isDocumented(file, start)) };
  }
  for (const { moduleRequest, entries: imported } of file.module.staticImports) {
    const binding = imported.find(({ localName }) => localName.value === name);
    const source = binding === undefined ? undefined : resolve(file.path, moduleRequest.value, lookup);
    if (binding !== undefined && source !== undefined) {
      return exportedFrom(source, binding.importName.name ?? name, lookup);
    }
  }
  return undefined;
}

function declaredNames(statement: SyntaxNode): string[] {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  const named = declaration.type === "VariableDeclaration" ? nodesAt(declaration, "declarations") : [declaration];
  return named.flatMap(({ id }) => (isNode(id) ? [nameOf(id) ?? ""] : []));
}

// A docstring ends right before the statement, with nothing but white space between.
function isDocumented(file: SourceFile, start: number): boolean {
  return file.comments.some(
    ({ type, value, end }) =>
      type === "Block" && value.startsWith("*") && end <= start && file.text.slice(end, start).trim() === "",
  );
}

function resolve(from: string, specifier: string, lookup: Lookup): string | undefined {
  return specifier.startsWith(".")
    ? posix.join(posix.dirname(from), specifier)
    : lookup.entries.find(({ name }) => name === specifier)?.source;
}
