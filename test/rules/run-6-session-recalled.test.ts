import { KernelError, memoryRunStore, type RunClaim, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { factsIn } from "../support/left-run.ts";
import { misuseOf } from "../support/run-6-session-scene.ts";
import { call, outcomesOf, recordingTool, testSession } from "../support/run-calls.ts";

/** A store that counts what is claimed of it, and says what becomes of every claim but the first. */
function countingStore(claimAgain: (inner: RunStore) => Promise<RunClaim>) {
  const inner = memoryRunStore();
  let claims = 0;
  const store: RunStore = {
    claim: (...given) => {
      claims += 1;
      return claims === 1 ? inner.claim(...given) : claimAgain(inner);
    },
    listOpen: (options) => inner.listOpen(options),
    prune: (options) => inner.prune(options),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
  };
  return { inner, store, count: () => claims };
}

const turn = (place: number) => [call("write", { place }, `call ${place}`)];

/** A session that has run three turns. */
async function playThree(claimAgain = (inner: RunStore) => inner.claim("run", { create: false })) {
  const { inner, store, count } = countingStore(claimAgain);
  const write = recordingTool({ name: "write", risk: "nonIdempotentWrite", conflictKey: () => "k" as never });
  const session = testSession({ tools: [write.tool], runStore: store });
  const results = [];
  for (const place of [1, 2, 3]) results.push(await session.execute(turn(place)).result);
  return { session, inner, count, results, runs: write.runs };
}

describe("a session that is asked again for a turn which it has run itself", () => {
  it("RUN-6: has the last one's result in its hand, and every other from the store alone", async () => {
    const { session, count, results, runs } = await playThree();
    expect(await session.execute(turn(3), { turn: 3 }).result).toEqual(results[2]);
    expect(count()).toBe(1);
    expect(await session.execute(turn(1), { turn: 1 }).result).toEqual(results[0]);
    expect(count()).toBe(2);
    // As its story goes on.
    expect([await session.execute(turn(2)).result, await session.execute(turn(3)).result]).toEqual(results.slice(1));
    expect([runs.length, count()]).toEqual([3, 3]);
    await session.close();
  });

  it("RUN-6: holds its run afterwards as before, and records what comes then behind all that was", async () => {
    const { session, inner, runs } = await playThree();
    const [again, next] = [session.execute(turn(1), { turn: 1 }), session.execute(turn(4), { turn: 4 })];
    await again.result;
    expect(await misuseOf(inner.claim("run", { create: false }))).toBe("RUN_CLAIMED runId");
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
    await session.close();
    const turns = (await factsIn(inner)).flatMap((fact) => (fact.kind === "response" ? [fact.turn] : []));
    expect([turns, runs.length]).toEqual([[1, 2, 3, 4], 4]);
  });

  it("RUN-6: runs another response for that turn, as the store's next session would", async () => {
    const { session, runs } = await playThree();
    expect(outcomesOf(await session.execute(turn(9), { turn: 1 }).result)).toEqual(["succeeded"]);
    expect(runs.at(-1)).toEqual({ place: 9 });
    await session.close();
  });

  it.each([
    ["somebody else has taken the run over", "RUN_CLAIMED"],
    ["the store is gone", "JOURNAL_UNAVAILABLE"],
  ] as const)("CAN-5: where %s meanwhile, runs nothing and says so, and takes nothing more", async (_what, code) => {
    const fault = code === "RUN_CLAIMED" ? new KernelError(code, "Another has it.") : new Error("the disk is gone");
    const { session, runs } = await playThree(async () => Promise.reject(fault));
    await expect(session.execute(turn(1), { turn: 1 }).result).rejects.toMatchObject({ code });
    expect(() => session.execute(turn(4))).toThrow(expect.objectContaining({ code }));
    expect(runs).toHaveLength(3);
    await session.close();
  });
});
