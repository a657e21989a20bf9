import { describe, expect, it } from "vitest";
import { packageEntries, readManifest } from "../support/manifest.ts";
import { parseSource, sourceFiles } from "../support/syntax.ts";
import { judgeImport, zoneOf } from "./import-direction.ts";
import { findCycles, type ImportEdge, importsOf } from "./import-graph.ts";

const manifest = readManifest();
const entries = packageEntries(manifest);
const CORE_DEPENDENCIES = ["@noble/hashes", "ajv", "fast-json-stable-stringify", "rxjs", "xstate"];

function edgesOf(path: string, text: string): ImportEdge[] {
  return importsOf(parseSource(path, text), entries);
}

function judge(path: string, text: string): (string | undefined)[] {
  return edgesOf(path, text).map((edge) => judgeImport(edge, manifest));
}

describe("imports", () => {
  const files = sourceFiles("src", "machines");
  const edges = files.flatMap((file) => importsOf(file, entries));

  it("go only in the direction of the architecture", () => {
    expect(edges.map((edge) => judgeImport(edge, manifest)).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it("come from files that have a place in the layout", () => {
    expect(files.map((file) => file.path).filter((path) => zoneOf(path) === undefined)).toEqual([]);
  });

  // Types are gone when modules are loaded, so two files may name each other's.
  it("never go in a circle", () => {
    expect(findCycles(edges.filter(({ isTypeOnly }) => !isTypeOnly))).toEqual([]);
  });

  it("name relative files with their ending", () => {
    expect(edges.filter(({ specifier }) => /^\..*(?<!\.ts)$/.test(specifier)).map(({ place }) => place)).toEqual([]);
  });

  it("bring no package into the core beyond the few that the manifest names", () => {
    expect(Object.keys(manifest.dependencies).sort()).toEqual(CORE_DEPENDENCIES);
  });
});

describe("the import check finds", () => {
  it.each([
    ["src/domain/call.ts", 'import { planEpochs } from "../plan/plan-epochs.ts";'],
    ["src/domain/call.ts", 'import { assign } from "xstate";'],
    ["src/plan/lanes.ts", 'import { settleCall } from "../settle/settle-call.ts";'],
    ["src/plan/lanes.ts", 'export { settleCall } from "../settle/settle-call.ts";'],
    ["src/settle/settle-call.ts", 'import { randomUUID } from "node:crypto";'],
    ["src/settle/settle-call.ts", 'const crypto = await import("crypto");'],
    ["src/settle/settle-call.ts", 'type Hash = import("node:crypto").Hash;'],
    ["src/run/session.ts", 'import type { EventHub } from "../observe/event-hub.ts";'],
    ["src/run/session.ts", 'import { memoryJournal } from "../journal/memory.ts";'],
    ["src/run/session.ts", 'import { fromMcp } from "toolkernel/mcp";'],
    ["src/run/session.ts", 'import { z } from "zod";'],
    ["src/index.ts", 'export { fromMcp } from "./adapters/mcp/from-mcp.ts";'],
    ["src/adapters/mcp/from-mcp.ts", 'import { isWrite } from "../../domain/tool.ts";'],
    ["src/cli/run.ts", 'import type { Tool } from "../domain/tool.ts";'],
    ["machines/batch.machine.ts", 'import { isWrite } from "../src/domain/tool.ts";'],
    ["machines/batch.machine.ts", 'import { runBatch } from "../src/run/batch/run-batch.ts";'],
    ["src/utils/text.ts", 'import type { Tool } from "../domain/tool.ts";'],
  ])("what %s may not write: %s", (path, text) => {
    expect(judge(path, text)).toEqual([expect.any(String)]);
  });

  it.each([
    ["src/plan/lanes.ts", 'import { isWrite } from "../domain/tool.ts";'],
    ["src/run/session.ts", 'import { batchMachine } from "../../machines/batch.machine.ts";'],
    ["src/run/session.ts", 'import { createActor } from "xstate";'],
    ["src/adapters/mcp/from-mcp.ts", 'import type { Tool } from "../../domain/tool.ts";'],
    ["src/adapters/mcp/from-mcp.ts", 'import { toolResult } from "toolkernel";'],
    ["src/cli/run.ts", 'import { readFile } from "node:fs/promises";'],
    ["machines/batch.machine.ts", 'import type { Tool } from "../src/domain/tool.ts";'],
    ["machines/batch.machine.ts", 'import { nextEpoch } from "../src/plan/plan-epochs.ts";'],
  ])("nothing where %s writes: %s", (path, text) => {
    expect(judge(path, text)).toEqual([undefined]);
  });

  it("a circle of three files", () => {
    const circle = ["a", "b", "c"].flatMap((name, place) =>
      edgesOf(`src/plan/${name}.ts`, `import type { X } from "./${["b", "c", "a"][place]}.ts";`),
    );
    expect(findCycles(circle)).toEqual(["src/plan/a.ts -> src/plan/b.ts -> src/plan/c.ts -> src/plan/a.ts"]);
  });
});
