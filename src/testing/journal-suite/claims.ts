import { strict as assert } from "node:assert";
import { committed, type DeskCase, fenceOf, refused } from "./desk.ts";

/** Who may claim what, and in which order. */
export const CLAIM_CASES: readonly DeskCase[] = [
  {
    name: "ACT-1: a claim with free keys writes the intent as dispatched, in one step",
    run: async (desk) => {
      const { intent, fence } = await desk.claim({ keys: ["plot"] });
      const entry = await desk.journal.find(intent.operationId);
      assert.ok(entry !== undefined);
      assert.deepEqual(entry.intent, intent);
      assert.equal(entry.state, "dispatched");
      assert.equal(entry.fence, fence);
      assert.equal(entry.receipt, undefined);
      assert.equal(typeof entry.owner, "string");
      assert.ok(Number.isFinite(entry.createdAtMs) && entry.updatedAtMs >= entry.createdAtMs);
    },
  },
  {
    name: "ACT-1: an intent without keys is claimed at once",
    run: async (desk) => {
      const { intent } = await desk.claim();
      assert.equal(await desk.state(intent.operationId), "dispatched");
    },
  },
  {
    name: "ACT-4: a claim on a held key waits as prepared, and is won when the key is released",
    run: async (desk) => {
      const first = await desk.claim({ keys: ["plot"] });
      const second = await desk.ask({ keys: ["plot"] });
      assert.deepEqual(second.answer, { kind: "waiting" });
      assert.equal(await desk.state(second.intent.operationId), "prepared");
      assert.deepEqual(await desk.again(second), { kind: "waiting" });
      await desk.journal.protocol.finish({ ...first.request, fence: first.fence, receipt: committed(first.intent) });
      assert.ok(fenceOf(await desk.again(second)) > first.fence, "the fence of a scope rises");
      assert.equal(await desk.state(second.intent.operationId), "dispatched");
    },
  },
  {
    name: "ACT-4: several keys are claimed all or none",
    run: async (desk) => {
      const keys = ["a", "b", "c"];
      const { protocol } = desk.journal;
      for (const held of keys) {
        const holder = await desk.claim({ keys: [held] });
        const all = await desk.ask({ keys });
        assert.deepEqual(all.answer, { kind: "waiting" });
        assert.equal(await protocol.abandon(all.intent.operationId), true);
        const others = await desk.claim({ keys: keys.filter((key) => key !== held) });
        for (const { request, intent, fence } of [holder, others]) {
          await protocol.finish({ ...request, fence, receipt: committed(intent) });
        }
        assert.equal(await desk.state(all.intent.operationId), "abandoned");
      }
      await desk.claim({ keys });
      for (const key of keys) assert.deepEqual((await desk.ask({ keys: [key] })).answer, { kind: "waiting" });
    },
  },
  {
    name: "ACT-4: the same key in another generation is another scope",
    run: async (desk) => {
      await desk.claim({ keys: ["plot"] });
      await desk.claim({ keys: ["plot"], generationId: "second" });
    },
  },
  {
    name: "ACT-4: those who wait for a key are served in order, newcomers last",
    run: async (desk) => {
      const holder = await desk.claim({ keys: ["plot"] });
      const early = await desk.ask({ keys: ["plot"] });
      const late = await desk.ask({ keys: ["plot"] });
      await desk.journal.protocol.finish({ ...holder.request, fence: holder.fence, receipt: committed(holder.intent) });
      assert.deepEqual((await desk.ask({ keys: ["plot"] })).answer, { kind: "waiting" });
      assert.deepEqual(await desk.again(late), { kind: "waiting" });
      const fence = fenceOf(await desk.again(early));
      await desk.journal.protocol.finish({ ...early.request, fence, receipt: committed(early.intent) });
      fenceOf(await desk.again(late));
    },
  },
  {
    name: "ACT-4: of many claims on one key at once exactly one is won",
    run: async (desk) => {
      const asked = await Promise.all(Array.from({ length: 20 }, () => desk.ask({ keys: ["plot"] })));
      assert.deepEqual(asked.map(({ answer }) => answer.kind).sort(), ["claimed", ...Array(19).fill("waiting")]);
    },
  },
  {
    name: "ACT-1: of many attempts at one id at once exactly one is won",
    run: async (desk) => {
      const { request } = desk.request({ keys: ["plot"] });
      const answers = await Promise.all(Array.from({ length: 20 }, () => desk.anew({ request })));
      assert.deepEqual(answers.map(({ kind }) => kind).sort(), ["claimed", ...Array(19).fill("inFlight")]);
    },
  },
  {
    name: "ACT-1: an attempt that lost the answer to its claim gets the same one again",
    run: async (desk) => {
      const asked = await desk.claim({ keys: ["plot"] });
      assert.deepEqual(await desk.again(asked), asked.answer);
    },
  },
  {
    name: "ACT-7: another intent under a known id is a mismatch, whatever state the known one is in",
    run: async (desk) => {
      const { intent, request, fence } = await desk.claim();
      const other = { operationId: intent.operationId, arguments: { plot: 2 } };
      assert.deepEqual((await desk.ask(other)).answer, { kind: "mismatch" });
      await desk.journal.protocol.finish({ ...request, fence, receipt: committed(intent) });
      assert.deepEqual((await desk.ask(other)).answer, { kind: "mismatch" });
    },
  },
  {
    name: "ACT-3: a waiting attempt that is withdrawn leaves its entry abandoned and its place in line free",
    run: async (desk) => {
      const holder = await desk.claim({ keys: ["plot"] });
      const first = await desk.ask({ keys: ["plot"] });
      const second = await desk.ask({ keys: ["plot"] });
      const receipt = refused(first.intent);
      assert.equal(await desk.journal.protocol.withdraw({ ...first.request, receipt }), "abandoned");
      assert.equal(await desk.journal.protocol.withdraw({ ...first.request, receipt }), "nothing");
      assert.equal(await desk.state(first.intent.operationId), "abandoned");
      assert.deepEqual(await desk.again(first), { kind: "withdrawn" });
      await desk.journal.protocol.finish({ ...holder.request, fence: holder.fence, receipt: committed(holder.intent) });
      fenceOf(await desk.again(second));
    },
  },
  {
    name: "ACT-3: a claimed attempt that is withdrawn is closed as failed and frees its keys",
    run: async (desk) => {
      const asked = await desk.claim({ keys: ["plot"] });
      const receipt = refused(asked.intent);
      assert.equal(
        await desk.journal.protocol.withdraw({ ...asked.request, claimId: "another attempt", receipt }),
        "nothing",
      );
      assert.equal(await desk.journal.protocol.withdraw({ ...asked.request, receipt }), "closed");
      const entry = await desk.journal.find(asked.intent.operationId);
      assert.deepEqual([entry?.state, entry?.receipt], ["failed", receipt]);
      await desk.claim({ keys: ["plot"] });
    },
  },
  {
    name: "ACT-2: an abandoned entry is attempted anew under a higher fence, by a new attempt alone",
    run: async (desk) => {
      const holder = await desk.claim({ keys: ["plot"] });
      const asked = await desk.ask({ keys: ["plot"] });
      assert.equal(await desk.journal.protocol.abandon(asked.intent.operationId), true);
      assert.equal(await desk.journal.protocol.abandon(asked.intent.operationId), false);
      assert.deepEqual(await desk.anew(asked), { kind: "waiting" });
      assert.equal(await desk.state(asked.intent.operationId), "prepared");
      assert.equal(await desk.journal.protocol.abandon(asked.intent.operationId), true);
      await desk.journal.protocol.finish({ ...holder.request, fence: holder.fence, receipt: committed(holder.intent) });
      assert.ok(fenceOf(await desk.anew(asked)) > holder.fence);
      assert.equal(await desk.state(asked.intent.operationId), "dispatched");
    },
  },
  {
    name: "ACT-7: of an abandoned entry the stored keys stand",
    run: async (desk) => {
      const holder = await desk.claim({ keys: ["plot"] });
      const asked = await desk.ask({ keys: ["plot"] });
      await desk.journal.protocol.abandon(asked.intent.operationId);
      const other = await desk.ask({ operationId: asked.intent.operationId, keys: ["elsewhere"] });
      assert.equal(other.answer.kind, "rescoped");
      assert.deepEqual(other.answer.kind === "rescoped" && other.answer.entry.intent, asked.intent);
      assert.equal(await desk.state(asked.intent.operationId), "abandoned");
      await desk.claim({ keys: ["elsewhere"] });
      await desk.journal.protocol.finish({ ...holder.request, fence: holder.fence, receipt: committed(holder.intent) });
      fenceOf(await desk.anew(asked));
    },
  },
];
