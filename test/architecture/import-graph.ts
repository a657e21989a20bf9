import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { PackageEntry } from "../support/manifest.ts";
import { nameOf, nodeAt, placeOf, type SourceFile, walk } from "../support/syntax.ts";

/** One import of a source, however it is written. */
export interface ImportEdge {
  readonly from: string;
  readonly place: string;
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  readonly target: ImportTarget;
}

/** What an import leads to. `path` is a file of the project. */
export type ImportTarget =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "entry"; readonly path: string }
  | { readonly kind: "builtin" }
  | { readonly kind: "package"; readonly name: string };

/** Every import of a source: static, dynamic, re-exporting and in types. */
export function importsOf(file: SourceFile, entries: readonly PackageEntry[]): ImportEdge[] {
  return [...staticImports(file), ...reExports(file), ...dynamicImports(file), ...typeImports(file)].map(
    ({ specifier, isTypeOnly, start }) => ({
      from: file.path,
      place: placeOf(file, start),
      specifier,
      isTypeOnly,
      target: resolveTarget(file.path, specifier, entries),
    }),
  );
}

/** Files that import each other in a circle, each circle once, as `a -> b -> a`. */
export function findCycles(edges: readonly ImportEdge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, target } of edges) {
    if (target.kind === "file" || target.kind === "entry") {
      next.set(from, [...(next.get(from) ?? []), target.path]);
    }
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  function visit(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    if (!done.has(path)) {
      for (const each of next.get(path) ?? []) {
        visit(each, [...trail, path]);
      }
      done.add(path);
    }
  }
  for (const path of next.keys()) {
    visit(path, []);
  }
  return cycles;
}

interface WrittenImport {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  readonly start: number;
}

function staticImports(file: SourceFile): WrittenImport[] {
  return file.module.staticImports.map(({ moduleRequest, entries, start }) => ({
    specifier: moduleRequest.value,
    isTypeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
    start,
  }));
}

function reExports(file: SourceFile): WrittenImport[] {
  return file.module.staticExports.flatMap(({ entries, start }) => {
    const specifier = entries[0]?.moduleRequest?.value;
    return specifier === undefined ? [] : [{ specifier, isTypeOnly: entries.every((entry) => entry.isType), start }];
  });
}

function dynamicImports(file: SourceFile): WrittenImport[] {
  return file.module.dynamicImports.flatMap(({ moduleRequest, start }) => {
    const literal = /^(["'`])([^$]*)\1$/.exec(file.text.slice(moduleRequest.start, moduleRequest.end));
    return literal?.[2] === undefined ? [] : [{ specifier: literal[2], isTypeOnly: false, start }];
  });
}

function typeImports(file: SourceFile): WrittenImport[] {
  const found: WrittenImport[] = [];
  walk(file.program, (node) => {
    const specifier = node.type === "TSImportType" ? nameOf(nodeAt(node, "source")) : undefined;
    if (specifier !== undefined) {
      found.push({ specifier, isTypeOnly: true, start: node.start });
    }
  });
  return found;
}

function resolveTarget(from: string, specifier: string, entries: readonly PackageEntry[]): ImportTarget {
  if (specifier.startsWith(".")) {
    return { kind: "file", path: posix.join(posix.dirname(from), specifier) };
  }
  const entry = entries.find(({ name }) => name === specifier);
  if (entry !== undefined) {
    return { kind: "entry", path: entry.source };
  }
  if (isBuiltin(specifier)) {
    return { kind: "builtin" };
  }
  const parts = specifier.split("/");
  return { kind: "package", name: parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/") };
}
