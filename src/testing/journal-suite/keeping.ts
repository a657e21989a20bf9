import { strict as assert } from "node:assert";
import { committed, type DeskCase, refused, rejectsWith } from "./desk.ts";

/** What hosts have taken for a time. */
const NO_TIMES: readonly unknown[] = ["90d", "", new Date(0), Number.NaN, null, undefined, []];

/** What a journal keeps, lists, forgets and refuses. */
export const KEEPING_CASES: readonly DeskCase[] = [
  {
    name: "ACT-10: find returns undefined for an unknown id, and never another id's entry",
    run: async (desk) => {
      const { intent } = await desk.claim();
      const ids = [`${intent.operationId}\u0000rest`, `${intent.operationId}\ud800`, desk.name("unknown"), ""];
      for (const id of ids) assert.equal(await desk.journal.find(id), undefined);
    },
  },
  {
    name: "ACT-10: arguments come back exactly, whatever they hold",
    run: async (desk) => {
      const odd = {
        text: "\u0000 \ud800 \udfff \u2028 é 😀",
        numbers: [0, 1e300, 5e-324, -1.5, 9_007_199_254_740_991],
        nested: JSON.parse(`${"[".repeat(60)}${"]".repeat(60)}`),
        order: { z: 1, a: 2, "10": 3 },
        large: "x".repeat(300_000),
      };
      const { intent } = await desk.claim({ arguments: odd });
      const entry = await desk.journal.find(intent.operationId);
      assert.equal(JSON.stringify(entry?.intent), JSON.stringify(intent));
    },
  },
  {
    name: "ACT-10: open entries are listed in order of their ids, page by page, and no final ones",
    run: async (desk) => {
      const asked = [await desk.claim({ keys: ["plot"] }), await desk.ask({ keys: ["plot"] }), await desk.uncertain()];
      const done = await desk.claim();
      await desk.journal.protocol.finish({ ...done.request, fence: done.fence, receipt: committed(done.intent) });
      const listed: [string, string][] = [];
      for (let after = desk.name(""); ; ) {
        const page: Awaited<ReturnType<typeof desk.journal.listOpen>> = await desk.journal.listOpen({
          limit: 2,
          after,
        });
        assert.ok(page.entries.length <= 2);
        listed.push(...page.entries.map(({ intent, state }): [string, string] => [intent.operationId, state]));
        if (page.next === undefined) break;
        assert.ok(page.next > after, "the next page comes after this one");
        after = page.next;
      }
      const own = listed.filter(([id]) => id.startsWith(desk.name("")));
      const states = ["dispatched", "prepared", "uncertain"];
      assert.deepEqual(
        own,
        asked.map(({ intent }, index) => [intent.operationId, states[index]]),
      );
      assert.deepEqual(
        listed,
        [...listed].sort(([one], [other]) => (one < other ? -1 : 1)),
      );
      await rejectsWith("INVALID_OPTIONS", desk.journal.listOpen({ limit: 0 }));
    },
  },
  {
    name: "ACT-10: pruning forgets arguments and receipts of old final entries, and their ids stay taken",
    run: async (desk) => {
      const ended = await desk.claim({ arguments: { secret: 1 } });
      await desk.journal.protocol.finish({ ...ended.request, fence: ended.fence, receipt: committed(ended.intent) });
      const before = await desk.journal.find(ended.intent.operationId);
      assert.ok(before !== undefined);
      await desk.journal.prune({ finalBefore: before.updatedAtMs });
      assert.deepEqual(await desk.journal.find(ended.intent.operationId), before);
      assert.ok((await desk.journal.prune({ finalBefore: before.updatedAtMs + 1 })) >= 1);
      const { receipt: _gone, ...rest } = before;
      const intent = { ...before.intent, arguments: null };
      assert.deepEqual(await desk.journal.find(ended.intent.operationId), { ...rest, intent, forgotten: true });
      assert.deepEqual(await desk.anew(ended), { kind: "forgotten" });
      const other = { operationId: ended.intent.operationId, arguments: { secret: 2 } };
      assert.deepEqual((await desk.ask(other)).answer, { kind: "mismatch" });
    },
  },
  {
    name: "ACT-10: an invalid time prunes nothing, and neither it nor an invalid page is taken for the store's fault",
    run: async (desk) => {
      const ended = await desk.claim();
      await desk.journal.protocol.finish({ ...ended.request, fence: ended.fence, receipt: committed(ended.intent) });
      const before = await desk.journal.find(ended.intent.operationId);
      // To a database a text may be later than every number.
      for (const finalBefore of NO_TIMES) {
        await rejectsWith("INVALID_OPTIONS", desk.journal.prune({ finalBefore } as never));
      }
      await rejectsWith("INVALID_OPTIONS", desk.journal.prune(undefined as never));
      await rejectsWith("INVALID_OPTIONS", desk.journal.listOpen(undefined as never));
      await rejectsWith("INVALID_OPTIONS", desk.journal.listOpen({ limit: 1, after: 5 } as never));
      assert.deepEqual(await desk.journal.find(ended.intent.operationId), before);
    },
  },
  {
    name: "ACT-10: pruning never touches an open entry",
    run: async (desk) => {
      const asked = [await desk.claim({ keys: ["plot"] }), await desk.ask({ keys: ["plot"] }), await desk.uncertain()];
      const ids = asked.map(({ intent }) => intent.operationId);
      const before = await Promise.all(ids.map((id) => desk.journal.find(id)));
      await desk.journal.prune({ finalBefore: Number.MAX_SAFE_INTEGER });
      assert.deepEqual(await Promise.all(ids.map((id) => desk.journal.find(id))), before);
    },
  },
  {
    name: "ACT-5: a sweep leaves what a living owner has alone",
    run: async (desk) => {
      const holder = await desk.claim({ keys: ["plot"] });
      const waiting = await desk.ask({ keys: ["plot"] });
      await desk.journal.protocol.sweep();
      assert.equal(await desk.state(holder.intent.operationId), "dispatched");
      assert.equal(await desk.state(waiting.intent.operationId), "prepared");
      assert.equal(desk.journal.protocol.holdsLease(), true);
    },
  },
  {
    name: "ACT-10: steps submitted one after another take effect in that order",
    run: async (desk) => {
      const { protocol } = desk.journal;
      const first = await desk.claim({ keys: ["plot"] });
      const second = desk.request({ keys: ["plot"] });
      const saving = protocol.finish({ ...first.request, fence: first.fence, receipt: committed(first.intent) });
      const claiming = protocol.claim(second.request);
      assert.deepEqual([(await saving).kind, (await claiming).kind], ["saved", "claimed"]);
    },
  },
  {
    name: "ACT-11: one failing step does not take the steps beside it down",
    run: async (desk) => {
      const { protocol } = desk.journal;
      const first = await desk.claim();
      const second = await desk.claim();
      await protocol.finish({ ...first.request, fence: first.fence, receipt: committed(first.intent) });
      const ended = await Promise.allSettled([
        protocol.finish({ ...first.request, fence: first.fence, receipt: refused(first.intent) }),
        protocol.finish({ ...second.request, fence: second.fence, receipt: committed(second.intent) }),
      ]);
      assert.deepEqual(
        ended.map(({ status }) => status),
        ["rejected", "fulfilled"],
      );
      assert.equal(await desk.state(second.intent.operationId), "committed");
    },
  },
  {
    name: "ACT-11: a closed journal refuses everything and can be closed again",
    run: async (desk) => {
      const { request, intent } = desk.request();
      await desk.journal.close();
      await desk.journal.close();
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.journal.protocol.claim(request));
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.journal.find(intent.operationId));
      await rejectsWith("JOURNAL_UNAVAILABLE", desk.journal.listOpen({ limit: 1 }));
      assert.deepEqual([desk.journal.protocol.isClosed, desk.journal.protocol.holdsLease()], [true, false]);
    },
  },
];
