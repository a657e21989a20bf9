import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CONVERSATION = "examples/settlement/conversation.json";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "settlement-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function play() {
  const args = ["--import", "tsx", "src/cli/main.ts", "run", CONVERSATION, "--journal", join(folder, "journal.db")];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, CI: "true" },
  });
  return { status, signal, out: stdout, errors: stderr };
}

/** What the world was really made to do, in order. */
function worldWrites(): readonly string[] {
  const lines = readFileSync(join(folder, "settlement.jsonl"), "utf8").split("\n").filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as { kind: string; action: string });
  return entries.filter(({ kind }) => kind === "write").map(({ action }) => action);
}

// The plays follow on each other, as a process follows on the one that was killed.
describe("a conversation with a world and a journal", () => {
  it("ACT-5: asks the world about a write without an answer before it goes on, and dies with the next", () => {
    const killed = play();
    expect(killed.signal).toBe("SIGKILL");
    expect(killed.out).toContain("#0 harvest uncertain (timeout)");
    expect(killed.out).toContain("#2 harvest blocked");
    expect(killed.out).toContain("asked the world about harvest (plot:plot-1): committed");
    expect(worldWrites()).toEqual(["build", "build", "harvest", "trade", "harvest", "trade"]);
  });

  it("ACT-1, RUN-6: goes on where the killed process was, and does nothing twice", () => {
    const resumed = play();
    expect([resumed.status, resumed.errors]).toEqual([0, ""]);
    expect(resumed.out).toContain("the journal has these results already: 3 calls, nothing was run again");
    expect(resumed.out).toContain("asked the world about trade (player:player-1, player:player-2): committed");
    expect(worldWrites()).toEqual(["build", "build", "harvest", "trade", "harvest", "trade", "build"]);
  });

  it("RUN-6: a play that has ended is shown again from what is kept, and the world is left alone", () => {
    const again = play();
    expect([again.status, again.errors]).toEqual([0, ""]);
    expect(again.out).toContain("10 calls: 8 succeeded, 1 uncertain, 1 blocked.");
    expect(again.out).toContain("What became of 1 uncertain call has been found out since: the journal has it.");
    expect(worldWrites()).toHaveLength(7);
  });
});
