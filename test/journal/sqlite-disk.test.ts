import { spawnSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Clock } from "../../src/domain/ports.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/index.ts";
import { systemClock } from "../../src/run/clock.ts";
import { intentOf } from "../actions/rig.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const mounted: string[] = [];

function mount(...settings: readonly string[]): boolean {
  return spawnSync("mount", settings).status === 0;
}

function canMount(): boolean {
  const directory = "/tmp/toolkernel-mount-probe";
  spawnSync("mkdir", ["-p", directory]);
  const isMounted = mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", directory);
  if (isMounted) spawnSync("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
  return isMounted;
}

/** A small disk of its own, unmounted after the test. */
function smallDisk(megabytes: number): string {
  const directory = temporaryDirectory();
  expect(mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory)).toBe(true);
  mounted.push(directory);
  return directory;
}

/** How often the journal looks at the disk. */
const LOOKS_EVERY_MS = 100;

/** The platform's clock, which a test can set forward. */
function shiftedClock(): Clock & { shift(ms: number): void } {
  let shiftMs = 0;
  return {
    now: () => systemClock.now() + shiftMs,
    setTimer: (atMs, run) => systemClock.setTimer(atMs - shiftMs, run),
    shift: (ms) => {
      shiftMs += ms;
    },
  };
}

afterEach(() => {
  for (const directory of mounted.splice(0)) spawnSync("umount", ["-l", directory]);
});

/** Takes what is free, but for so many bytes. */
function fill(directory: string, leaveBytes: number): string {
  const { bavail, bsize } = statfsSync(directory);
  const path = `${directory}/filler`;
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
  return path;
}

// A small disk can only be made by the superuser; elsewhere these say nothing.
describe.skipIf(!canMount())("a disk that fills up", () => {
  it("ACT-11: refuses new actions by name, keeps the receipts of those under way, and goes on when there is space", async () => {
    const directory = smallDisk(8);
    const clock = shiftedClock();
    const journal = await openSqliteJournal(`${directory}/journal.db`, { clock });
    const waiting: (() => void)[] = [];
    const dispatcher = new GameActionDispatcher({
      journal,
      receiptCommitTimeoutMs: 2_000,
      handler: {
        execute: (intent) =>
          new Promise((resolve) => {
            waiting.push(() => resolve(GameActionReceipt.committed(intent, "x".repeat(1_000))));
          }),
      },
    });
    const underWay = ["a", "b", "c"].map((id) => dispatcher.dispatch(intentOf(id)));
    await expect.poll(() => waiting.length).toBe(3);
    const filler = fill(directory, 0);
    clock.shift(LOOKS_EVERY_MS);
    await expect(dispatcher.dispatch(intentOf("d"))).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    expect(await journal.find("d")).toBeUndefined();
    for (const answer of waiting) answer();
    expect((await Promise.all(underWay)).map(({ receipt }) => receipt?.status)).toEqual(Array(3).fill("committed"));
    rmSync(filler);
    clock.shift(LOOKS_EVERY_MS);
    const again = dispatcher.dispatch(intentOf("d"));
    await expect.poll(() => waiting.length).toBe(4);
    waiting.at(-1)?.();
    expect((await again).receipt?.status).toBe("committed");
    await journal.close();
  });

  it("ACT-6, ACT-11: a receipt for which there is no space at all is uncertain, and saved when there is", async () => {
    const directory = smallDisk(8);
    const path = `${directory}/journal.db`;
    const journal = await openSqliteJournal(path);
    let answer = (): void => undefined;
    const dispatcher = new GameActionDispatcher({
      journal,
      receiptCommitTimeoutMs: 300,
      handler: {
        execute: (intent) =>
          new Promise((resolve) => {
            answer = () => resolve(GameActionReceipt.committed(intent, "x".repeat(1_000_000)));
          }),
      },
    });
    const dispatching = dispatcher.dispatch(intentOf("a"));
    await expect.poll(async () => (await journal.find("a"))?.state).toBe("dispatched");
    rmSync(`${path}-reserve`);
    const filler = fill(directory, 0);
    answer();
    expect((await dispatching).receipt).toMatchObject({ status: "uncertain", code: "receipt_not_durable" });
    expect((await journal.find("a"))?.state).toBe("dispatched");
    rmSync(filler);
    await expect.poll(async () => (await journal.find("a"))?.state, { timeout: 5_000 }).toBe("committed");
    await journal.close();
  });

  it("ACT-11: a disk that is full when the journal is to be made is named", async () => {
    const directory = smallDisk(1);
    fill(directory, 8_192);
    await expect(openSqliteJournal(`${directory}/journal.db`)).rejects.toMatchObject({ code: "JOURNAL_FULL" });
  });

  it("ACT-11: a journal that may only be read is refused when it is opened", async () => {
    const [directory, readOnly] = [temporaryDirectory(), temporaryDirectory()];
    await (await openSqliteJournal(`${directory}/journal.db`)).close();
    expect([mount("--bind", directory, readOnly), mount("-o", "remount,bind,ro", readOnly)]).toEqual([true, true]);
    mounted.push(readOnly);
    for (const name of ["journal.db", "new.db"]) {
      await expect(openSqliteJournal(`${readOnly}/${name}`)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    }
  });
});
