import { KernelError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { eventsOf, outcomesOf } from "../support/run-calls.ts";
import { endAll, keyed, openOrdered, openParallel } from "../support/unc-blocking-scene.ts";

describe("UNC-6: resolveUncertain", () => {
  /** A write that is lost in a batch that a read of its own keeps open. */
  async function loseOne(bench: ReturnType<typeof openOrdered>) {
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("read", "r", "read"),
      keyed("write", "k", "after"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    return running;
  }

  it("during the batch lets what is judged after it run, and is told", async () => {
    const bench = openOrdered();
    const running = await loseOne(bench);
    await bench.session.resolveUncertain("lost", { status: "committed" });
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["uncertain", "succeeded", "succeeded"]);
    expect(eventsOf(running.events, "toolUncertaintyResolved")).toEqual([
      {
        kind: "toolUncertaintyResolved",
        seq: expect.any(Number),
        timeMs: expect.any(Number),
        runId: "run",
        turn: 1,
        audience: "internal",
        callId: "lost",
        callIndex: 0,
        toolName: "write",
        operationId: result.settled[0]?.operationId,
        epoch: 0,
        status: "committed",
      },
    ]);
  });

  it("takes an operation id as well, and each uncertainty once", async () => {
    const bench = openOrdered();
    const running = await loseOne(bench);
    const [ended] = eventsOf(running.events, "toolEnded");
    await bench.session.resolveUncertain(ended?.operationId ?? "", { status: "failed" });
    await expect(bench.session.resolveUncertain("lost", { status: "failed" })).rejects.toMatchObject({
      code: "OPERATION_UNKNOWN",
    });
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "succeeded"]);
  });

  it("a call id means the newest unresolved call with it, then the one before", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const keys = ["a", "b"];
    for (const key of keys) {
      const running = await bench.start([keyed("write", key, "same-id")]);
      runningCall(bench.write, 0).reject(new Error("lost"));
      await running.result;
    }
    const blockedAfter = async (): Promise<string[]> => {
      const running = await bench.start(keys.map((key) => keyed("write", key, key)));
      await endAll(bench);
      return outcomesOf(await running.result);
    };
    expect(await blockedAfter()).toEqual(["blocked", "blocked"]);
    await bench.session.resolveUncertain("same-id", { status: "committed" });
    expect(await blockedAfter()).toEqual(["blocked", "succeeded"]);
    await bench.session.resolveUncertain("same-id", { status: "committed" });
    expect(await blockedAfter()).toEqual(["succeeded", "succeeded"]);
  });

  it.each(["before anything ran", "of a call that is certain", "of a blocked call"])(
    "an id %s is unknown",
    async (which) => {
      const bench = openOrdered();
      const ids: Record<string, string> = {
        "before anything ran": "lost",
        "of a call that is certain": "ok",
        "of a blocked call": "blocked",
      };
      if (which !== "before anything ran") {
        const running = await bench.start([
          keyed("write", "x", "ok"),
          keyed("write", "k", "lost"),
          keyed("write", "k", "blocked"),
        ]);
        runningCall(bench.write, 0).resolve();
        await bench.advance();
        runningCall(bench.write, 1).reject(new Error("lost"));
        await running.result;
      }
      const rejected = bench.session.resolveUncertain(ids[which] ?? "", { status: "failed" });
      await expect(rejected).rejects.toBeInstanceOf(KernelError);
      await expect(rejected).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    },
  );

  it.each([undefined, "uncertain", "succeeded", 1])("status %s is refused and resolves nothing", async (status) => {
    const bench = openOrdered();
    const running = await loseOne(bench);
    await expect(bench.session.resolveUncertain("lost", { status: status as never })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
    });
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "blocked"]);
  });

  it("may come from a listener that has just seen the uncertain end: nobody is blocked then", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 1 } });
    const batch = bench.session.execute([keyed("write", "k", "lost"), keyed("write", "k", "next")]);
    const resolved: Promise<void>[] = [];
    batch.subscribe((event) => {
      if (event.kind === "toolEnded" && event.outcome === "uncertain")
        resolved.push(bench.session.resolveUncertain(event.callId, { status: "failed" }));
    });
    await bench.advance();
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(await Promise.allSettled(resolved)).toEqual([{ status: "fulfilled", value: undefined }]);
    runningCall(bench.write, 1).resolve();
    expect(outcomesOf(await batch.result)).toEqual(["uncertain", "succeeded"]);
  });

  it("between batches goes to telemetry alone and to no batch that is over", async () => {
    const names: string[] = [];
    const bench = openOrdered({ telemetry: { record: ({ name }) => void names.push(name) } });
    const running = await bench.start([keyed("write", "k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await running.result;
    const before = running.events.length;
    await bench.session.resolveUncertain("lost", { status: "committed" });
    expect(running.events).toHaveLength(before);
    expect(names.at(-1)).toBe("kernel.tooluncertaintyresolved");
  });

  it("after close it still answers", async () => {
    const bench = openOrdered();
    const running = await bench.start([keyed("write", "k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await running.result;
    await bench.session.close();
    await expect(bench.session.resolveUncertain("lost", { status: "failed" })).resolves.toBeUndefined();
  });
});

describe("UNC-4, UNC-5: many uncertain writes at once", () => {
  it("several that settle in one turn each block what shares their key", async () => {
    const bench = openParallel();
    const running = await bench.start(
      ["a", "b", "c", "a", "b", "c", "d"].map((key, place) => keyed("write", key, `${key}${place}`)),
    );
    for (const place of [0, 1, 2]) runningCall(bench.write, place).reject(new Error("lost"));
    await bench.advance();
    expect(placesOf(bench.write)).toEqual([6]);
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual([
      "uncertain",
      "uncertain",
      "uncertain",
      "blocked",
      "blocked",
      "blocked",
      "succeeded",
    ]);
    expect(eventsOf(running.events, "toolBlocked").map(({ callId, blockedBy }) => `${callId} by ${blockedBy}`)).toEqual(
      ["a3 by a0", "b4 by b1", "c5 by c2"],
    );
  });

  it("slots and lanes are whole again after blocking: the batch that follows has them all", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 2 } });
    const first = await bench.start([
      keyed("write", "a", "lost"),
      keyed("write", "b", "busy"),
      ...["a", "a", "b"].map((key, place) => keyed("write", [key, "a"], `w${place}`)),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    runningCall(bench.write, 1).resolve();
    expect(outcomesOf(await first.result)).toEqual(["uncertain", "succeeded", "blocked", "blocked", "blocked"]);
    const second = await bench.start([keyed("write", "a", "a"), keyed("write", "b", "b"), keyed("write", "c", "c")]);
    expect(runningIn(second.events)).toEqual(["a", "b"]);
    await endAll(bench);
    expect(outcomesOf(await second.result)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});
