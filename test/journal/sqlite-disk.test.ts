import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { openSqliteJournal, openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { intentOf } from "../actions/rig.ts";
import { canMount, fill, LOOKS_EVERY_MS, readOnlyTwin, shiftedClock, smallDisk } from "./small-disk.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

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
    const directory = temporaryDirectory();
    await (await openSqliteJournal(`${directory}/journal.db`)).close();
    const readOnly = readOnlyTwin(directory);
    for (const name of ["journal.db", "new.db"]) {
      await expect(openSqliteJournal(`${readOnly}/${name}`)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    }
  });

  it("CAN-5, ACT-11: a full disk refuses new runs and then facts by name; nothing is lost, and it goes on when there is space", async () => {
    const directory = smallDisk(8);
    const clock = shiftedClock();
    const store = await openSqliteRunStore(`${directory}/runs.db`, { clock });
    const claim = await store.claim("run", { create: true });
    await claim.append([fact(1)]);
    const filler = fill(directory, 0);
    clock.shift(LOOKS_EVERY_MS);
    await expect(store.claim("new", { create: true })).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    const large = { kind: "message", message: { role: "user", content: "x".repeat(1_500_000) } } as const;
    await expect(claim.append([large])).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    rmSync(filler);
    clock.shift(LOOKS_EVERY_MS);
    await claim.append([fact(2)]);
    await claim.release();
    expect((await store.claim("run", { create: false })).facts).toEqual(factsUpTo(2));
    expect((await store.claim("new", { create: true })).facts).toEqual([]);
    await store.close();
  });

  it("ACT-11: a run store that may only be read is refused when it is opened", async () => {
    const directory = temporaryDirectory();
    await (await openSqliteRunStore(`${directory}/runs.db`)).close();
    const readOnly = readOnlyTwin(directory);
    for (const name of ["runs.db", "new.db"]) {
      await expect(openSqliteRunStore(`${readOnly}/${name}`)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    }
  });
});
