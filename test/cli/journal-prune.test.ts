import { describe, expect, it } from "vitest";
import { filled, here, json } from "../support/journal-command-scene.ts";

describe("journal prune", () => {
  it("ACT-10: forgets what ended before a time, by date or by age", async () => {
    await filled();
    expect((await here("prune", "--before", "1d")).out).toBe("0 operations pruned.\n");
    expect((await here("prune", "--before", "2000-01-01")).out).toBe("0 operations pruned.\n");
    expect(await json("prune", "--before", "2200-01-01")).toEqual({
      exitCode: 0,
      lines: [{ kind: "pruned", pruned: 1 }],
    });
    expect((await here("show", "done")).out).toContain(
      "state      committed, pruned\naction     build\narguments  null\nsession",
    );
    // Without its unit an age is no date: "45" would be the year 2045, before which everything has ended.
    for (const time of ["soon", "5y", "", "45", "90", "2026", "jan 5", "2026-02-31x"])
      expect((await here("prune", "--before", time)).exitCode).toBe(1);
  });
});
