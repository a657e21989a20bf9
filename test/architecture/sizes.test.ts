import { describe, expect, it } from "vitest";
import { findNodes, parseSource, placeOf, type SourceFile, sourceFiles } from "../support/syntax.ts";

const MOST_LINES_OF_A_FILE = 250;
const MOST_LINES_OF_A_FUNCTION = 60;
const MOST_PARAMETERS = 3;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

const files = sourceFiles("src", "machines");

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

function longFunctions(file: SourceFile): string[] {
  return findNodes(file.program, ({ type }) => FUNCTIONS.has(type))
    .map(({ start, end }) => ({ start, lines: lineCount(file.text.slice(start, end)) }))
    .filter(({ lines }) => lines > MOST_LINES_OF_A_FUNCTION)
    .map(({ start, lines }) => `${placeOf(file, start)} has ${lines} lines`);
}

function crowdedFunctions(file: SourceFile): string[] {
  return findNodes(file.program, ({ type }) => FUNCTIONS.has(type))
    .map(({ start, params }) => ({ start, count: Array.isArray(params) ? params.length : 0 }))
    .filter(({ count }) => count > MOST_PARAMETERS)
    .map(({ start, count }) => `${placeOf(file, start)} has ${count} parameters`);
}

describe("sizes", () => {
  it("no file is longer than can be read at once", () => {
    const long = files.map(({ path, text }) => ({ path, lines: lineCount(text) }));
    expect(long.filter(({ lines }) => lines > MOST_LINES_OF_A_FILE)).toEqual([]);
  });

  it("no function is longer than a screen", () => {
    expect(files.flatMap(longFunctions)).toEqual([]);
  });

  it("no function has more parameters than a reader keeps apart", () => {
    expect(files.flatMap(crowdedFunctions)).toEqual([]);
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

  it("a fourth parameter", () => {
    expect(crowdedFunctions(parseSource("src/x.ts", "const x = (a, b, c, d) => a;"))).toEqual([
      "src/x.ts:1 has 4 parameters",
    ]);
  });
});
