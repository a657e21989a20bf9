import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../support/project-files.ts";
import {
  findNodes,
  nameOf,
  nodeAt,
  parseSource,
  placeOf,
  ROOT,
  type SourceFile,
  type SyntaxNode,
  sourceFiles,
} from "../support/syntax.ts";

const MOST_LINES_OF_A_FILE = 250;
const MOST_LINES_OF_A_FUNCTION = 60;
const MOST_PARAMETERS = 3;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const GROUPS = new Set(["describe", "suite"]);

const product = sourceFiles("src", "machines");
const written = projectFiles(/\.[cm]?[jt]s$/).map((path) => parseSource(path, readFileSync(ROOT + path, "utf8")));

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

function longFunctions(file: SourceFile): string[] {
  return findNodes(file.program, (node, ancestors) => FUNCTIONS.has(node.type) && !isGroupOfTests(ancestors))
    .map(({ start, end }) => ({ start, lines: lineCount(file.text.slice(start, end)) }))
    .filter(({ lines }) => lines > MOST_LINES_OF_A_FUNCTION)
    .map(({ start, lines }) => `${placeOf(file, start)} has ${lines} lines`);
}

// What is handed to `describe` only holds tests together: each of them is read by itself, and counts.
function isGroupOfTests([call]: readonly SyntaxNode[]): boolean {
  return call?.type === "CallExpression" && GROUPS.has(rootName(nodeAt(call, "callee")));
}

// `describe.each([...])` is called on a call, `describe.skipIf` on a member.
function rootName(callee: SyntaxNode): string {
  switch (callee.type) {
    case "CallExpression":
      return rootName(nodeAt(callee, "callee"));
    case "MemberExpression":
      return rootName(nodeAt(callee, "object"));
    default:
      return nameOf(callee) ?? "";
  }
}

function crowdedFunctions(file: SourceFile): string[] {
  return findNodes(file.program, ({ type }) => FUNCTIONS.has(type))
    .map(({ start, params }) => ({ start, count: Array.isArray(params) ? params.length : 0 }))
    .filter(({ count }) => count > MOST_PARAMETERS)
    .map(({ start, count }) => `${placeOf(file, start)} has ${count} parameters`);
}

describe("sizes", () => {
  it("no file is longer than can be read at once", () => {
    const long = written.map(({ path, text }) => ({ path, lines: lineCount(text) }));
    expect(long.filter(({ lines }) => lines > MOST_LINES_OF_A_FILE)).toEqual([]);
  });

  it("no function is longer than a screen", () => {
    expect(written.flatMap(longFunctions)).toEqual([]);
  });

  // In tests the row of a table is spread over parameters.
  it("no function has more parameters than a reader keeps apart", () => {
    expect(product.flatMap(crowdedFunctions)).toEqual([]);
  });
});

describe("the size check finds", () => {
  it("a method one line too long, and not one that just fits", () => {
    const method = (lines: number): SourceFile =>
      parseSource("src/x.ts", `class X {\n  work() {\n${"    void 0;\n".repeat(lines - 2)}  }\n}\n`);
    expect(longFunctions(method(MOST_LINES_OF_A_FUNCTION))).toEqual([]);
    expect(longFunctions(method(MOST_LINES_OF_A_FUNCTION + 1))).toEqual([
      `src/x.ts:2 has ${MOST_LINES_OF_A_FUNCTION + 1} lines`,
    ]);
  });

  it("a test one line too long, and not the group that holds it", () => {
    const group = (callee: string, lines: number): SourceFile =>
      parseSource(
        "test/x.test.ts",
        `${callee}("a", () => {\n  it("b", () => {\n${"    void 0;\n".repeat(lines - 2)}  });\n});\n`,
      );
    for (const callee of ["describe", "describe.skipIf(c)", "describe.each(rows)"]) {
      expect(longFunctions(group(callee, MOST_LINES_OF_A_FUNCTION))).toEqual([]);
      expect(longFunctions(group(callee, MOST_LINES_OF_A_FUNCTION + 1))).toEqual([
        `test/x.test.ts:2 has ${MOST_LINES_OF_A_FUNCTION + 1} lines`,
      ]);
    }
    expect(longFunctions(group("hold", MOST_LINES_OF_A_FUNCTION))).toHaveLength(1);
  });

  it("a fourth parameter", () => {
    expect(crowdedFunctions(parseSource("src/x.ts", "const x = (a, b, c, d) => a;"))).toEqual([
      "src/x.ts:1 has 4 parameters",
    ]);
  });
});
