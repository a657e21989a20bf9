import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MIGRATIONS as POSTGRES } from "../../src/journal/postgres/migrations.ts";
import { MIGRATIONS as SQLITE } from "../../src/journal/sqlite/migrations.ts";

const hashesOf = (steps: readonly string[]) =>
  steps.map((step) => createHash("sha256").update(step).digest("hex").slice(0, 16));

describe("migrations", () => {
  // Stores that exist were made by these very texts: a change is a new step behind them, never another text.
  it("ACT-11: are added to, and never changed", () => {
    expect(hashesOf(SQLITE)).toEqual(["0def3c2812d63539", "b44beb035a09b0cf"]);
    expect(hashesOf(POSTGRES)).toEqual(["c4be94b1b1de8187", "14ce0f25bc78c765", "fcb75a7f5caa478f"]);
  });
});
