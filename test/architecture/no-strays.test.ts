import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../support/project-files.ts";
import { parseSource, ROOT, sourceFiles } from "../support/syntax.ts";
import { mayUseBuiltins } from "./import-direction.ts";
import {
  clockCalls,
  nodeGlobals,
  ownPromises,
  realTimers,
  uncheckedTypes,
  unfinishedMarks,
  unrunTests,
} from "./strays.ts";

const OWNS_TIME = /^src\/(?:run\/clock\.ts$|cli\/|inspect\/)/;
const WAITS_FOR_REAL_THINGS = /^test\/(?:support|browser|crash)\//;
const TEXT_FILE = /\.(?:ts|mts|js|mjs|json|md|html|css|sql|yml|yaml|sh)$|^\.ci\/run$|^LICENSE$/;

const product = sourceFiles("src", "machines");
const tests = sourceFiles("test");
const written = [...product, ...tests, ...sourceFiles("examples", "scripts", "bench")];

const textFiles = projectFiles(TEXT_FILE);

function textOf(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}

describe("no strays", () => {
  it("nothing is left to be done, and no word says so", () => {
    expect(written.flatMap(unfinishedMarks)).toEqual([]);
  });

  it("every test runs", () => {
    expect(tests.flatMap(unrunTests)).toEqual([]);
  });

  it("real time, chance and timers come from the clock alone", () => {
    expect(product.filter(({ path }) => !OWNS_TIME.test(path)).flatMap(clockCalls)).toEqual([]);
  });

  it("globals of Node are used only where its modules may be", () => {
    expect(product.filter(({ path }) => !mayUseBuiltins(path)).flatMap(nodeGlobals)).toEqual([]);
  });

  it("no type is unchecked", () => {
    expect(product.flatMap(uncheckedTypes)).toEqual([]);
  });

  it("no promise is told by its class", () => {
    expect(product.flatMap(ownPromises)).toEqual([]);
  });

  it("no test waits for a real timer", () => {
    expect(tests.filter(({ path }) => !WAITS_FOR_REAL_THINGS.test(path)).flatMap(realTimers)).toEqual([]);
  });

  it("no file names the folder that the project happens to lie in", () => {
    const parent = dirname(ROOT);
    const places = [ROOT, ["/", tmpdir(), homedir()].includes(parent) ? ROOT : `${parent}/`];
    const naming = textFiles.filter((path) => places.some((place) => textOf(path).includes(place)));
    expect(naming).toEqual([]);
  });

  it("no lock file records where packages were downloaded from", () => {
    const locks = textFiles.filter((path) => path.endsWith("package-lock.json"));
    expect(locks).toContain("package-lock.json");
    expect(locks.filter((path) => textOf(path).includes('"resolved"'))).toEqual([]);
  });
});

describe("the stray check finds", () => {
  const timer = "setTimeout";
  const parse = (text: string): ReturnType<typeof parseSource> => parseSource("src/x.ts", text);

  it.each(["Date.now()", "new Date()", `globalThis.${timer}(f)`, "Math.random()", "crypto.randomUUID()"])(
    "%s",
    (text) => {
      expect(clockCalls(parse(`const x = ${text};`))).toHaveLength(1);
    },
  );

  it("a wait in a test, and none in a string", () => {
    expect(realTimers(parse(`${timer}(f, 1); const text = "${timer}(f)";`))).toEqual([`src/x.ts:1: ${timer}`]);
  });

  it("a promise that is told by its class, and no other class", () => {
    const text = "a instanceof Promise; b instanceof globalThis.Promise; c instanceof Error;";
    expect(ownPromises(parse(text))).toEqual(Array(2).fill("src/x.ts:1: instanceof Promise"));
  });

  it("a global of Node, and no property of that name", () => {
    expect(nodeGlobals(parse("const a = process.env; const b = actor.process; const c = { process: 1 };"))).toEqual([
      "src/x.ts:1: process",
    ]);
  });

  it("an unchecked type and a silenced checker, and no word in a text", () => {
    expect(uncheckedTypes(parse('let a: any; // @ts-expect-error\nconst b = "any";'))).toEqual([
      "src/x.ts:1: any",
      "src/x.ts:1: the checker is silenced",
    ]);
  });

  it("a mark in a comment, and no word in a text", () => {
    const mark = ["TO", "DO"].join("");
    expect(unfinishedMarks(parse(`// ${mark}: more\nconst text = "${mark}";`))).toEqual(["src/x.ts:1"]);
  });

  it("tests that do not run, and lets conditions pass", () => {
    const [skipped, only] = ["skip", "only"];
    expect(unrunTests(parse(`it.${skipped}("a", f); describe.${only}("b", f); it.skipIf(c)("d", f);`))).toEqual([
      `src/x.ts:1: it.${skipped}`,
      `src/x.ts:1: describe.${only}`,
    ]);
  });
});
