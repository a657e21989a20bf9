import { strict as assert } from "node:assert";
import { rejectsWith } from "../journal-suite/desk.ts";
import { fact, type RunDeskCase } from "./run-desk.ts";

/** What a run store lists, forgets and refuses. */
export const RUN_KEEPING_CASES: readonly RunDeskCase[] = [
  {
    name: "RUN-6: open runs are listed in order of their ids, page by page, with where they stand",
    run: async (desk) => {
      await desk.keep("d", [fact(1)], "awaitingApproval");
      for (const status of ["completed", "stopped", "aborted", "limitExceeded", "providerError"] as const) {
        await desk.keep(`c-${status}`, [fact(1)], status);
      }
      await desk.keep("b", [fact(1)], "running");
      const held = await desk.claim("a");
      const listed = await desk.listing(1);
      assert.deepEqual(
        listed.map(({ updatedAtMs: _time, ...rest }) => rest),
        [
          { runId: desk.name("a"), status: "running", turn: 0, claimed: true },
          { runId: desk.name("b"), status: "running", turn: 1, claimed: false },
          { runId: desk.name("d"), status: "awaitingApproval", turn: 1, claimed: false },
        ],
      );
      assert.deepEqual(await desk.listing(2), listed);
      await held.release();
      assert.equal((await desk.listing())[0]?.claimed, false);
    },
  },
  {
    name: "RUN-6: a page holds from one run to ten thousand",
    run: async (desk) => {
      for (const limit of [0, -1, 1.5, 10_001, Number.NaN]) {
        await rejectsWith("INVALID_OPTIONS", desk.store.listOpen({ limit }));
      }
      await desk.store.listOpen({ limit: 10_000 });
    },
  },
  {
    name: "RUN-6: the list says when something was recorded of a run last, and taking it up does not count",
    run: async (desk) => {
      await desk.keep("run", [fact(1)]);
      const [before] = await desk.listing();
      assert.ok(before !== undefined && Number.isSafeInteger(before.updatedAtMs), "a time in milliseconds");
      await desk.factsOf("run");
      assert.deepEqual(await desk.listing(), [before]);
      await desk.keep("run", [fact(2)]);
      const [after] = await desk.listing();
      assert.ok(after !== undefined && after.updatedAtMs >= before.updatedAtMs, "time goes on");
    },
  },
  {
    name: "RUN-6: a run that ended can be open again",
    run: async (desk) => {
      await desk.keep("run", [fact(1)], "completed");
      assert.deepEqual(await desk.listing(), []);
      await desk.keep("run", [fact(2)], "running");
      assert.deepEqual(
        (await desk.listing()).map(({ runId }) => runId),
        [desk.name("run")],
      );
    },
  },
  {
    name: "RUN-6: pruning removes runs that ended before a time, and never an open one",
    run: async (desk) => {
      await desk.keep("ended", [fact(1)], "completed");
      await desk.keep("running", [fact(2)], "running");
      await desk.keep("waiting", [fact(3)], "awaitingApproval");
      await desk.store.prune({ endedBefore: 1 });
      assert.deepEqual(await desk.factsOf("ended"), [fact(1)]);
      assert.ok((await desk.store.prune({ endedBefore: Number.MAX_SAFE_INTEGER })) >= 1, "it says how many");
      await rejectsWith("RUN_NOT_FOUND", desk.store.claim(desk.name("ended"), { create: false }));
      assert.deepEqual(await desk.factsOf("running"), [fact(2)]);
      assert.deepEqual(await desk.factsOf("waiting"), [fact(3)]);
      await desk.keep("ended", [fact(4)]);
      assert.deepEqual(await desk.factsOf("ended"), [fact(4)]);
    },
  },
  {
    name: "RUN-6: an invalid time prunes nothing, and an invalid page is refused",
    run: async (desk) => {
      await desk.keep("ended", [fact(1)], "completed");
      for (const endedBefore of ["90d", "", new Date(0), Number.NaN, undefined]) {
        await rejectsWith("INVALID_OPTIONS", desk.store.prune({ endedBefore } as never));
      }
      await rejectsWith("INVALID_OPTIONS", desk.store.prune(undefined as never));
      await rejectsWith("INVALID_OPTIONS", desk.store.listOpen(undefined as never));
      assert.deepEqual(await desk.factsOf("ended"), [fact(1)]);
    },
  },
  {
    name: "RUN-6: pruning leaves a run alone that somebody holds, though it has ended",
    run: async (desk) => {
      const claim = await desk.claim("run");
      await claim.append([fact(1)], { status: "completed", turn: 1 });
      await desk.store.prune({ endedBefore: Number.MAX_SAFE_INTEGER });
      await claim.append([fact(2)]);
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), [fact(1), fact(2)]);
    },
  },
  {
    name: "RUN-6: closing records what was given before, then refuses everything and can be done again",
    run: async (desk) => {
      const claim = await desk.claim("run");
      const appends = Promise.allSettled([1, 2, 3].map((number) => claim.append([fact(number)])));
      await desk.store.close();
      await desk.store.close();
      await desk.store[Symbol.asyncDispose]();
      assert.deepEqual(
        (await appends).map(({ status }) => status),
        Array(3).fill("fulfilled"),
      );
      await rejectsWith("JOURNAL_UNAVAILABLE", claim.append([fact(4)]));
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.claim("other"));
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.store.listOpen({ limit: 1 }));
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.store.prune({ endedBefore: 1 }));
      await claim.release();
    },
  },
];
