import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CutDisk, LEAVES_ALL, LEAVES_NOTHING, type Leaves, leavesSome } from "./cut-disk.ts";
import { type DiskStep, readTrace, traceInto } from "./disk-trace.ts";
import { randomFrom, rounds, SEED } from "./long-runs.ts";
import { copyFaults, faultsOf, movingFaultsOf, Outside } from "./power-judge.ts";
import type { PowerOrders, PowerSaid } from "./power-lines.ts";
import { buildProgram, spawnProgram } from "./spawn-program.ts";

const canTrace = spawnSync("strace", ["-f", "-e", "trace=fdatasync", "true"]).status === 0;

beforeAll(() => buildProgram("power-child"));

/** Made anew by whoever opens the file, whatever stands in them. */
const OF_NO_MATTER = /-(shm|reserve)$/;

async function inDirectory<Answer>(use: (directory: string) => Promise<Answer>): Promise<Answer> {
  const directory = mkdtempSync(join(tmpdir(), "toolkernel-power-"));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Lets a process work, and gives everything that it asked of the disk and said. */
function traceOf(orders: Omit<PowerOrders, "path">): Promise<readonly DiskStep[]> {
  return inDirectory((traces) =>
    inDirectory(async (directory) => {
      const trace = join(traces, "trace");
      const child = spawnProgram<PowerSaid>({
        name: "power-child",
        orders: { ...orders, path: join(directory, "journal.db") },
        around: traceInto(trace),
      });
      expect(await child.ended).toBe(0);
      return readTrace(trace, directory, OF_NO_MATTER);
    }),
  );
}

interface Cuts {
  readonly steps: readonly DiskStep[];
  /** How many, of each kind; spread over the whole trace by chance. */
  readonly count: number;
  /** The step before which they begin. */
  readonly from?: number;
  readonly ignoresSyncs?: boolean;
  readonly judge?: typeof faultsOf;
  readonly kinds?: readonly ("nothing" | "all" | "some")[];
}

/** Cuts the power at moments of chance, opens what is left, and gives every fault that is found. */
async function cutPower({
  steps,
  count,
  // What an older version did to its file is not looked at, but what becomes of it.
  from = steps.findLastIndex((step) => step.kind === "said" && step.text.includes("op-old")) + 1,
  ignoresSyncs = false,
  judge = faultsOf,
  kinds = ["nothing", "all", "some"],
}: Cuts): Promise<string[]> {
  const random = randomFrom(SEED);
  const disk = new CutDisk({ ignoresSyncs });
  const outside = new Outside();
  const faults: string[] = [];
  for (const [place, step] of steps.entries()) {
    for (const kind of kinds) {
      if (place < from || random() >= count / (steps.length - from)) continue;
      const leaves: Leaves = kind === "some" ? leavesSome(random) : kind === "all" ? LEAVES_ALL : LEAVES_NOTHING;
      await inDirectory(async (directory) => {
        disk.leave(directory, leaves);
        const found = await judge(join(directory, "journal.db"), outside);
        if (outside.hasOldFile && judge === faultsOf) found.push(...copyFaults(join(directory, "journal.db"), outside));
        faults.push(...found.map((fault) => `cut before step ${place}, ${kind} of it left: ${fault}`));
      });
    }
    disk.take(step);
    outside.take(step);
  }
  return faults;
}

const CUTS = rounds(12, 1_000);
const TIMEOUT_MS = 120_000 + CUTS * 2_000;

// Needs a tracer, and the right to use it.
describe.skipIf(!canTrace)(`power cuts, on a SQLite file (seed ${SEED})`, () => {
  it.each<readonly [string, Omit<PowerOrders, "path">]>([
    ["as it is opened, closed and opened again", { sessions: 3, actions: 24 }],
    ["whose log is checkpointed all the time", { sessions: 3, actions: 24, checkpointEvery: 12 }],
    ["of an older version", { sessions: 1, actions: 6, beginsOld: true }],
  ])(
    "ACT-1, ACT-5, ACT-6, ACT-11, RUN-6: lose nothing that was acknowledged, %s",
    { timeout: TIMEOUT_MS },
    async (_which, orders) => {
      const steps = await traceOf(orders);
      expect(await cutPower({ steps, count: CUTS })).toEqual([]);
    },
  );

  it("ACT-11: leave a store that was moved to another where nobody goes on with it", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const traced = await traceOf({ sessions: 0, actions: 0, beginsOld: true, moves: true });
    const steps: DiskStep[] = [...traced, { kind: "said", text: "" }]; // behind the last step there is a moment too
    const from = steps.findIndex((step) => step.kind === "rename" && step.to === "journal.db-moved") - 3;
    expect(from).toBeGreaterThan(0);
    expect(await cutPower({ steps, from, count: CUTS, judge: movingFaultsOf })).toEqual([]);
  });

  it("would lose receipts and make writes twice on a disk that does not sync, which the same judge sees", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const steps = await traceOf({ sessions: 3, actions: 24 });
    const faults = (await cutPower({ steps, count: 25, ignoresSyncs: true, kinds: ["some"] })).join("\n");
    expect(faults).toMatch(/the receipt of \S+ is lost/);
    expect(faults).toMatch(/\S+ is written a second time/);
    expect(faults).toMatch(/run-\d has \d facts of \d/);
  });

  it("would lose receipts with commits that are not synced, which the same judge sees", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const steps = await traceOf({ sessions: 3, actions: 24, isWeakened: true });
    const faults = (await cutPower({ steps, count: 25, kinds: ["nothing", "some"] })).join("\n");
    expect(faults).toMatch(/the receipt of \S+ is lost/);
    expect(faults).toMatch(/refused: JOURNAL_CORRUPT/); // the witness was faster
  });
});
