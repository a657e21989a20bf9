import { strict as assert } from "node:assert";
import { rejectsWith } from "../journal-suite/desk.ts";
import { fact, factsUpTo, type RunDeskCase } from "./run-desk.ts";

/** Who holds a run, and for how long. */
export const RUN_CLAIM_CASES: readonly RunDeskCase[] = [
  {
    name: "RUN-6: a run is made when that is asked for, and not found when it is not",
    run: async (desk) => {
      await rejectsWith("RUN_NOT_FOUND", desk.store.claim(desk.name("run"), { create: false }));
      assert.deepEqual(await desk.listing(), []);
      const claim = await desk.claim("run");
      assert.deepEqual([claim.runId, claim.facts], [desk.name("run"), []]);
      await claim.release();
      assert.deepEqual((await desk.store.claim(desk.name("run"), { create: false })).facts, []);
    },
  },
  {
    name: "RUN-6: a run that is held cannot be claimed, whether or not it may be made",
    run: async (desk) => {
      const claim = await desk.claim("run");
      await rejectsWith("RUN_CLAIMED", desk.store.claim(desk.name("run"), { create: true }));
      await rejectsWith("RUN_CLAIMED", desk.store.claim(desk.name("run"), { create: false }));
      await claim.append([fact(1)]);
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), [fact(1)]);
    },
  },
  {
    name: "RUN-6: of many claims at the same time exactly one wins",
    run: async (desk) => {
      for (let round = 0; round < 5; round += 1) {
        const claims = await Promise.allSettled(Array.from({ length: 8 }, () => desk.claim("run")));
        const won = claims.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
        const codes = claims.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
        assert.deepEqual([won.length, codes], [1, Array(7).fill("RUN_CLAIMED")]);
        await won[0]?.release();
      }
    },
  },
  {
    name: "RUN-6: a run that was given back can be taken at once, with all that was recorded",
    run: async (desk) => {
      for (let round = 1; round <= 4; round += 1) {
        const claim = await desk.claim("run");
        assert.deepEqual(claim.facts, factsUpTo(round - 1));
        await claim.append([fact(round)]);
        await claim.release();
      }
    },
  },
  {
    name: "RUN-6: a claim that gave its run back records nothing more, whoever has it now",
    run: async (desk) => {
      const former = await desk.claim("run");
      await former.release();
      await rejectsWith("RUN_CLAIMED", former.append([fact(1)]));
      const claim = await desk.claim("run");
      await rejectsWith("RUN_CLAIMED", former.append([fact(2)]));
      await claim.append([fact(3)]);
      await former.release();
      await rejectsWith("RUN_CLAIMED", desk.store.claim(desk.name("run"), { create: false }));
      await claim.append([fact(4)]);
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), [fact(3), fact(4)]);
    },
  },
  {
    name: "RUN-6: giving back waits for what is still being recorded, and may be asked for twice",
    run: async (desk) => {
      const claim = await desk.claim("run");
      const appends = [1, 2, 3].map((number) => claim.append([fact(number)]));
      await Promise.all([...appends, claim.release(), claim.release()]);
      assert.deepEqual(await desk.factsOf("run"), factsUpTo(3));
    },
  },
  {
    name: "RUN-6: runs are held each by itself",
    run: async (desk) => {
      const [one, other] = await Promise.all([desk.claim("one"), desk.claim("other")]);
      await Promise.all([one.append([fact(1)]), other.append([fact(2)])]);
      await one.release();
      await rejectsWith("RUN_CLAIMED", desk.store.claim(desk.name("other"), { create: false }));
      assert.deepEqual(await desk.factsOf("one"), [fact(1)]);
      await other.release();
      assert.deepEqual(await desk.factsOf("other"), [fact(2)]);
    },
  },
  {
    name: "RUN-6: an id that a store could take for another one is refused",
    run: async (desk) => {
      const tooLong = desk.name("é".repeat(250));
      for (const runId of ["", "a\u0000b", "a\ud800", "\udc00", tooLong, 5 as unknown as string]) {
        await rejectsWith("INVALID_OPTIONS", desk.store.claim(runId, { create: true }));
      }
    },
  },
  {
    name: "RUN-6: ids that differ in anything are different runs, up to 512 bytes",
    run: async (desk) => {
      const longest = "x".repeat(512 - desk.name("").length);
      const texts = [longest, `${longest.slice(1)}y`, "\u00e9", "e\u0301", "A", "a", "a ", "a\n", "'\"\\", "😀"];
      for (const [index, text] of texts.entries()) await desk.keep(text, [fact(index)]);
      for (const [index, text] of texts.entries()) assert.deepEqual(await desk.factsOf(text), [fact(index)]);
    },
  },
];
