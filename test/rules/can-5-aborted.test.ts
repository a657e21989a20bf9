import type { Inspect } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, openAgentBench } from "../support/agent-bench.ts";
import { LIMITS, slowWrites } from "../support/can-5-scene.ts";
import { MortalStore } from "../support/mortal-store.ts";

/** Keeps the states that the run's own chart has been in, as an inspector is shown them. */
function watchRun() {
  const states: unknown[] = [];
  const inspect: Inspect = (record) => {
    const { actorRef, snapshot } = record as {
      readonly actorRef: { id?: string };
      readonly snapshot?: { value?: unknown };
    };
    if (record.type === "@xstate.snapshot" && actorRef.id === "run:run") states.push(snapshot?.value);
  };
  return { states, inspect };
}

describe("an aborted run whose store is lost while its batch ends", () => {
  it.each([
    ["aborted first", async (abort: () => void, lose: () => Promise<void>) => [abort(), await lose()]],
    ["lost first", async (abort: () => void, lose: () => Promise<void>) => [await lose(), abort()]],
  ])("CAN-1, CAN-5: ends as kernelError, in its result and in its chart (%s)", async (_what, end) => {
    const { slow, calls, tools } = slowWrites();
    const runStore = new MortalStore({ kind: "rejects", at: 4, times: Number.POSITIVE_INFINITY });
    const { states, inspect } = watchRun();
    const bench = openAgentBench({ tools, script: [ask(...calls)], runStore, limits: LIMITS, inspect });
    const { run } = bench.start();
    await bench.advance();
    await end(
      () => run.abort("enough"),
      async () => {
        slow.pending[0]?.resolve("done");
        await bench.advance(600);
      },
    );
    for (const { resolve } of [...slow.pending]) resolve("done");
    await bench.advance(2_000);
    const result = await run.result;
    expect([endOf({ result }), states.at(-1), states.includes("haltingBatch")]).toEqual([
      "kernelError",
      "kernelError",
      true,
    ]);
  });
});
