import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { rounds } from "../crash/long-runs.ts";

const PAGE = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");

/** The rows of the page's table: a test file of crashes, and what the page says of its rounds. */
const ROWS = [...PAGE.matchAll(/^\| `([a-z-]+)`: .*\| ([^|]*) \|$/gm)].map(
  ([, file = "", said = ""]) => [file, said] as const,
);

describe("what docs/testing.md says of crash tests", () => {
  it("is said of some", () => {
    expect(ROWS.length).toBeGreaterThan(5);
    expect(rounds(1, 2)).toBeLessThanOrEqual(2);
  });

  it.each(ROWS)("holds for %s: %s", (file, said) => {
    const source = readFileSync(new URL(`../crash/${file}.test.ts`, import.meta.url), "utf8");
    const [number] = /[\d,]+/.exec(said) ?? [];
    const wanted = number?.replaceAll(",", "") ?? "1";
    const many = [...source.matchAll(/rounds\([^,]+, ([\d_]+)\)/g)].map(([, each = ""]) => each.replaceAll("_", ""));
    expect(many).toContain(wanted);
  });
});
