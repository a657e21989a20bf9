import { strict as assert } from "node:assert";
import type { RunFact } from "toolkernel";
import { fact, factsUpTo, type RunDeskCase } from "./run-desk.ts";

/** What a run keeps of what it is told. */
export const RUN_FACT_CASES: readonly RunDeskCase[] = [
  {
    name: "RUN-6: facts come back in the order they were given, of one append and of many",
    run: async (desk) => {
      const claim = await desk.claim("run");
      await claim.append(factsUpTo(3));
      await claim.append([fact(4)]);
      await claim.append(factsUpTo(30, 5));
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), factsUpTo(30));
    },
  },
  {
    name: "RUN-6: appends under way at the same time are recorded in the order they were given",
    run: async (desk) => {
      const claims = await Promise.all(["one", "two", "three"].map((text) => desk.claim(text)));
      await Promise.all(factsUpTo(40).map((each) => Promise.all(claims.map((claim) => claim.append([each])))));
      await Promise.all(claims.map((claim) => claim.release()));
      for (const text of ["one", "two", "three"]) assert.deepEqual(await desk.factsOf(text), factsUpTo(40));
    },
  },
  {
    name: "RUN-6: facts come back exactly, whatever they hold",
    run: async (desk) => {
      const odd: RunFact = {
        kind: "begun",
        earlier: [
          { role: "user", content: "\u0000 \ud800 \udfff \u2028 é 😀 '\" \\ $1 {a,b} NULL" },
          { role: "user", content: [{ type: "json", value: JSON.parse(`${"[".repeat(60)}${"]".repeat(60)}`) }] },
          { role: "user", content: [{ type: "json", value: [0, 1e300, 5e-324, -1.5, 9_007_199_254_740_991] }] },
          { role: "user", content: [{ type: "json", value: { z: 1, a: 2, "10": 3, "": null } }] },
        ],
      };
      const large: RunFact = { kind: "message", message: { role: "user", content: "x".repeat(2_000_000) } };
      await desk.keep("run", [odd, large, odd]);
      assert.equal(JSON.stringify(await desk.factsOf("run")), JSON.stringify([odd, large, odd]));
    },
  },
  {
    name: "RUN-6: what happens to a fact after it was given, or after it was read, changes nothing",
    run: async (desk) => {
      const claim = await desk.claim("run");
      const given = { kind: "dispatched" as const, turn: 1, index: 1, atMs: 0 };
      const appending = claim.append([given]);
      given.index = 2;
      await appending;
      given.index = 3;
      await claim.release();
      Object.assign((await desk.factsOf("run"))[0] ?? {}, { index: 4 });
      assert.deepEqual(await desk.factsOf("run"), [fact(1)]);
    },
  },
  {
    name: "RUN-6: an append without facts records progress alone, and one without anything nothing",
    run: async (desk) => {
      const claim = await desk.claim("run");
      await claim.append([]);
      await claim.append([], { status: "awaitingApproval", turn: 7 });
      await claim.append([]);
      const [listed] = await desk.listing();
      assert.deepEqual([listed?.status, listed?.turn], ["awaitingApproval", 7]);
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), []);
    },
  },
  {
    name: "RUN-6: the facts of a claim are those of when it was taken",
    run: async (desk) => {
      await desk.keep("run", [fact(1)]);
      const claim = await desk.claim("run");
      await claim.append([fact(2)]);
      assert.deepEqual(claim.facts, [fact(1)]);
      await claim.release();
    },
  },
  {
    name: "RUN-6: a long run comes back whole",
    run: async (desk) => {
      const claim = await desk.claim("run");
      for (let part = 0; part < 6; part += 1) await claim.append(factsUpTo(500 * (part + 1), 500 * part + 1));
      await claim.release();
      assert.deepEqual(await desk.factsOf("run"), factsUpTo(3_000));
    },
  },
];
