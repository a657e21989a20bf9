import { strict as assert } from "node:assert";
import { committed, type DeskCase, fenceOf, refused, rejectsWith, uncertainOf } from "./desk.ts";

/** How operations end, become uncertain, and are taken over. */
export const ENDING_CASES: readonly DeskCase[] = [
  {
    name: "ACT-2: a receipt ends a dispatched entry and is returned byte for byte",
    run: async (desk) => {
      for (const [index, receipt] of ["committed", "rejected", "failed"].entries()) {
        const { intent, request, fence } = await desk.claim({ keys: [`plot-${index}`] });
        const given =
          receipt === "committed"
            ? { ...committed(intent, { z: 1, a: [0.1, 1e21, 5e-324, "\u0000\ud800"] }), stateRevision: 3 }
            : refused(intent, receipt as "failed");
        assert.deepEqual(await desk.journal.protocol.finish({ ...request, fence, receipt: given }), { kind: "saved" });
        const entry = await desk.journal.find(intent.operationId);
        assert.equal(JSON.stringify(entry?.receipt), JSON.stringify(given));
        assert.equal(entry?.state, receipt);
        const replay = await desk.anew({ request });
        assert.deepEqual(replay, { kind: "final", entry });
      }
    },
  },
  {
    name: "ACT-2: saving an equal receipt again is fine, a different one is refused",
    run: async (desk) => {
      const { intent, request, fence } = await desk.claim();
      const receipt = committed(intent, { a: 1, b: 2 });
      await desk.journal.protocol.finish({ ...request, fence, receipt });
      const equal = committed(intent, { b: 2, a: 1 });
      assert.deepEqual(await desk.journal.protocol.finish({ ...request, fence, receipt: equal }), { kind: "saved" });
      await rejectsWith(
        "RECEIPT_IMMUTABLE",
        desk.journal.protocol.finish({ ...request, fence, receipt: committed(intent) }),
      );
      await rejectsWith(
        "RECEIPT_IMMUTABLE",
        desk.journal.protocol.finish({ ...request, fence, receipt: refused(intent) }),
      );
      assert.deepEqual((await desk.journal.find(intent.operationId))?.receipt, receipt);
    },
  },
  {
    name: "ACT-2: a receipt of another operation, an uncertain one, or one for an undispatched entry ends nothing",
    run: async (desk) => {
      const { intent, request, fence } = await desk.claim({ keys: ["plot"] });
      const foreign = { ...committed(intent), operationId: desk.name("another") };
      await rejectsWith("RECEIPT_MISMATCH", desk.journal.protocol.finish({ ...request, fence, receipt: foreign }));
      await rejectsWith(
        "RECEIPT_MISMATCH",
        desk.journal.protocol.finish({ ...request, fence, receipt: uncertainOf(intent) }),
      );
      assert.equal(await desk.state(intent.operationId), "dispatched");
      const waiting = await desk.ask({ keys: ["plot"] });
      const entry = await desk.journal.find(waiting.intent.operationId);
      const receipt = committed(waiting.intent);
      await rejectsWith(
        "RECEIPT_MISMATCH",
        desk.journal.protocol.finish({ ...waiting.request, fence: entry?.fence ?? 0, receipt }),
      );
      assert.equal(await desk.state(waiting.intent.operationId), "prepared");
      const unknown = desk.request();
      await rejectsWith(
        "OPERATION_UNKNOWN",
        desk.journal.protocol.finish({ ...unknown.request, fence: 1, receipt: committed(unknown.intent) }),
      );
    },
  },
  {
    name: "ACT-4: an uncertain entry keeps its keys until it ends",
    run: async (desk) => {
      const { intent, request, fence } = await desk.uncertain({ keys: ["plot"] });
      const entry = await desk.journal.find(intent.operationId);
      assert.deepEqual([entry?.state, entry?.receipt], ["uncertain", uncertainOf(intent)]);
      const waiting = await desk.ask({ keys: ["plot"] });
      assert.deepEqual(waiting.answer, { kind: "waiting" });
      assert.deepEqual(await desk.anew({ request }), { kind: "uncertain", entry });
      await desk.journal.protocol.finish({ ...request, fence, receipt: committed(intent) });
      fenceOf(await desk.again(waiting));
    },
  },
  {
    name: "ACT-5: a late receipt of the same fence closes an uncertain entry",
    run: async (desk) => {
      const { intent, request, fence } = await desk.uncertain();
      assert.deepEqual(await desk.journal.protocol.finish({ ...request, fence, receipt: committed(intent) }), {
        kind: "saved",
      });
      assert.equal(await desk.state(intent.operationId), "committed");
    },
  },
  {
    name: "ACT-5: only the fence that dispatched it makes an entry uncertain, and only once",
    run: async (desk) => {
      const { intent, request, fence } = await desk.claim();
      const receipt = uncertainOf(intent);
      assert.equal(await desk.journal.protocol.doubt({ ...request, fence: fence + 1, receipt }), false);
      assert.equal(await desk.state(intent.operationId), "dispatched");
      assert.equal(await desk.journal.protocol.doubt({ ...request, fence, receipt }), true);
      assert.equal(await desk.journal.protocol.doubt({ ...request, fence, receipt }), false);
      await desk.journal.protocol.finish({ ...request, fence, receipt: committed(intent) });
      assert.equal(await desk.journal.protocol.doubt({ ...request, fence, receipt }), false);
      assert.equal(await desk.state(intent.operationId), "committed");
    },
  },
  {
    name: "ACT-5: a take-over raises the fence and shuts the late owner out; its receipt is kept as evidence",
    run: async (desk) => {
      const { intent, request, fence } = await desk.uncertain({ keys: ["plot"] });
      const { protocol } = desk.journal;
      const taken = await protocol.takeOver({ ...request, by: "reconciler", holdMs: 60_000 });
      assert.equal(taken.kind, "taken");
      const raised = taken.kind === "taken" ? taken.entry.fence : 0;
      assert.ok(raised > fence);
      const late = await protocol.finish({ ...request, fence, receipt: committed(intent, "late") });
      assert.equal(late.kind, "overtaken");
      assert.equal(await desk.state(intent.operationId), "uncertain");
      assert.deepEqual(await protocol.finish({ ...request, fence: raised, receipt: refused(intent) }), {
        kind: "saved",
      });
      const afterwards = await protocol.finish({ ...request, fence, receipt: committed(intent, "late") });
      assert.equal(afterwards.kind === "overtaken" && afterwards.entry.state, "failed");
      const evidence = await protocol.listEvidence(intent.operationId);
      assert.ok(evidence.length > 0);
      for (const { kind, content } of evidence)
        assert.deepEqual([kind, content], ["lateReceipt", committed(intent, "late")]);
      assert.ok(
        (await desk.claim({ keys: ["plot"] })).fence > raised,
        "the fence of a scope rises with a take-over too",
      );
    },
  },
  {
    name: "ACT-5: two reconcilers never have one entry at once; a person takes it all the same",
    run: async (desk) => {
      const { intent, request } = await desk.uncertain();
      const { protocol } = desk.journal;
      const first = await protocol.takeOver({ ...request, by: "reconciler", holdMs: 60_000 });
      const firstFence = first.kind === "taken" ? first.entry.fence : 0;
      assert.deepEqual(await protocol.takeOver({ ...request, by: "reconciler", holdMs: 60_000 }), { kind: "busy" });
      await protocol.endTakeOver({ ...request, fence: firstFence });
      const second = await protocol.takeOver({ ...request, by: "reconciler", holdMs: 60_000 });
      const person = await protocol.takeOver({ ...request, by: "person", holdMs: 60_000 });
      assert.deepEqual([second.kind, person.kind], ["taken", "taken"]);
      const fence = person.kind === "taken" ? person.entry.fence : 0;
      await protocol.finish({ ...request, fence, receipt: committed(intent), evidence: { seen: "the wall stands" } });
      const [evidence] = await protocol.listEvidence(intent.operationId);
      assert.deepEqual(
        [evidence?.kind, evidence?.content, evidence?.fence],
        ["resolution", { seen: "the wall stands" }, fence],
      );
    },
  },
  {
    name: "ACT-5: a person's word that was overtaken is kept with its evidence, and not as a late receipt",
    run: async (desk) => {
      const { intent, request } = await desk.uncertain();
      const { protocol } = desk.journal;
      const wish = { ...request, by: "person", holdMs: 60_000 } as const;
      const [first, second] = [await protocol.takeOver(wish), await protocol.takeOver(wish)];
      const fences = [first, second].map((each) => (each.kind === "taken" ? each.entry.fence : 0));
      const [late = 0, fence = 0] = fences;
      const receipt = committed(intent);
      const overtaken = await protocol.finish({ ...request, fence: late, receipt, evidence: "seen by one" });
      assert.equal(overtaken.kind === "overtaken" && overtaken.entry.state, "uncertain");
      await protocol.finish({ ...request, fence, receipt, evidence: "seen by the other" });
      const kept = await protocol.listEvidence(intent.operationId);
      assert.deepEqual(
        kept.map((each) => [each.kind, each.fence, each.content]),
        [
          ["lateResolution", late, { receipt, evidence: "seen by one" }],
          ["resolution", fence, "seen by the other"],
        ],
      );
    },
  },
  {
    name: "ACT-5: only an uncertain entry can be taken over",
    run: async (desk) => {
      const { protocol } = desk.journal;
      const { intent, request, fence } = await desk.claim();
      const wish = { operationId: intent.operationId, by: "person", holdMs: 1_000 } as const;
      assert.equal((await protocol.takeOver(wish)).kind, "settled");
      await protocol.finish({ ...request, fence, receipt: committed(intent) });
      assert.equal((await protocol.takeOver(wish)).kind, "settled");
      assert.deepEqual(await protocol.takeOver({ ...wish, operationId: desk.name("unknown") }), { kind: "unknown" });
    },
  },
  {
    name: "ACT-4: every end, doubt and withdrawal is told to those who wait",
    run: async (desk) => {
      const { protocol } = desk.journal;
      const told = new Set<string>();
      const stop = protocol.onReleased(({ operationId }) => told.add(operationId));
      const holder = await desk.claim({ keys: ["plot"] });
      const waiting = await desk.ask({ keys: ["plot"] });
      await protocol.abandon(waiting.intent.operationId);
      const doubted = await desk.uncertain();
      await protocol.finish({ ...holder.request, fence: holder.fence, receipt: committed(holder.intent) });
      assert.deepEqual(
        [holder, waiting, doubted].map(({ intent }) => told.has(intent.operationId)),
        [true, true, true],
      );
      stop();
    },
  },
];
