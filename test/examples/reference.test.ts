import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, LIMIT_BOUNDS, type LimitName } from "../../src/domain/limits.ts";
import { readManifest } from "../support/manifest.ts";
import { ROOT } from "../support/syntax.ts";

/** The rows of the table under a heading of a page, cell by cell, without its head. */
function rowsUnder(heading: string, page = "docs/reference.md"): string[][] {
  const [, section = ""] = readFileSync(ROOT + page, "utf8").split(`\n## ${heading}\n`);
  const lines = section.split("\n## ")[0]?.split("\n") ?? [];
  return lines
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

describe("the reference", () => {
  it("explains every error code, in the order of the sources, and none that there is not", () => {
    const [, union = ""] = readFileSync(`${ROOT}src/domain/errors.ts`, "utf8").split("export type KernelErrorCode =");
    const codes = union.split(";")[0]?.match(/(?<=")\w+(?=")/g) ?? [];
    expect(codes).toContain("KERNEL_STUCK");
    expect(rowsUnder("Error codes").map(([code]) => code)).toEqual(codes.map((code) => `\`${code}\``));
  });

  it("tells name, default and range of every limit", () => {
    const shown = (value: number): string => value.toLocaleString("en-US");
    const limits = (Object.keys(DEFAULT_LIMITS) as LimitName[]).map((name) => {
      const [minimum, maximum] = LIMIT_BOUNDS[name];
      return [`\`${name}\``, shown(DEFAULT_LIMITS[name]), `${shown(minimum)} to ${shown(maximum)}`];
    });
    expect(rowsUnder("Limits").map((cells) => cells.slice(0, 3))).toEqual(limits);
  });
});

describe("the page about dependencies", () => {
  const namesUnder = (heading: string): (string | undefined)[] =>
    rowsUnder(heading, "docs/dependencies.md").map(([cell]) => cell?.match(/(?<=`)[^`]+/)?.[0]);
  const manifest = readManifest();

  it("names every package that the core depends on, and no other", () => {
    expect(namesUnder("Dependencies").sort()).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it("names every optional package", () => {
    expect(namesUnder("Optional packages")).toEqual(
      expect.arrayContaining(Object.keys(manifest.peerDependencies ?? {})),
    );
  });
});
