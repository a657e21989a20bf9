import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunOrders, RunSaid } from "./run-child.ts";
import { buildChild, spawnChild } from "./spawn-child.ts";
import { buildProgram, spawnProgram } from "./spawn-program.ts";
import { makeSite } from "./stores.ts";

const canTrace = spawnSync("strace", ["-f", "-e", "trace=fdatasync", "true"]).status === 0;

beforeAll(() => {
  buildChild();
  buildProgram("run-child");
});

/** A traced call: what it was, and on which file. */
interface Traced {
  readonly call: "sync" | "answer";
  readonly text: string;
}

function traceOf(path: string): Traced[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line): Traced[] => {
      if (/fdatasync\(|fsync\(/.test(line) && line.includes("journal.db-wal")) return [{ call: "sync", text: line }];
      return /write\(1</.test(line) && /operationId\\":|recorded\\":/.test(line)
        ? [{ call: "answer", text: line }]
        : [];
    });
}

// Needs a tracer, and the right to use it; elsewhere the settings are only read back.
describe.skipIf(!canTrace)("a commit that is acknowledged", () => {
  it("ACT-1, ACT-6: was synced to the disk before: the intent and the receipt of each action", async () => {
    const site = await makeSite("sqlite");
    const trace = join(dirname(site.worldPath), "trace");
    const operations = ["a", "b", "c"].map((operationId) => ({ operationId, key: "" }));
    const child = spawnChild(
      {
        store: site.store,
        worldPath: site.worldPath,
        crashAt: "never",
        operations,
        width: 1,
        writeMs: 0,
        waitsForStart: false,
      },
      ["strace", "-f", "-y", "-s", "200", "-e", "trace=fdatasync,fsync,write", "-o", trace],
    );
    expect(await child.ended).toBe(0);
    const calls = traceOf(trace).map(({ call }) => call);
    const answers = calls.flatMap((call, place) => (call === "answer" ? [place] : []));
    expect(answers).toHaveLength(operations.length);
    const syncsBefore = answers.map(
      (place, number) =>
        calls.slice(number === 0 ? 0 : answers[number - 1], place).filter((call) => call === "sync").length,
    );
    expect(syncsBefore.every((count) => count >= 2)).toBe(true);
    await site.remove();
  });

  it("RUN-6: was synced to the disk before: every fact of a run", async () => {
    const site = await makeSite("sqlite");
    const trace = join(dirname(site.worldPath), "trace");
    const orders: RunOrders = { kind: "record", store: site.store, runIds: ["run"], count: 5 };
    const child = spawnProgram<RunSaid>({
      name: "run-child",
      orders,
      around: ["strace", "-f", "-y", "-s", "200", "-e", "trace=fdatasync,fsync,write", "-o", trace],
    });
    expect(await child.ended).toBe(0);
    const calls = traceOf(trace).map(({ call }) => call);
    const answers = calls.flatMap((call, place) => (call === "answer" ? [place] : []));
    expect(answers).toHaveLength(5);
    for (const place of answers) expect(calls[place - 1]).toBe("sync");
    await site.remove();
  });
});
