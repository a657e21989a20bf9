import { type AfterToolCall, createLanes, KernelError, OutcomeUnknownError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, placesOf, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, eventsOf, outcomesOf, textsOf } from "../support/run-calls.ts";

const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

/** Epochs of one call each, in source order, so that later calls are judged when their epoch starts. */
function openOrdered(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

/** One epoch for all, so that calls wait in lanes and for slots. */
function openParallel(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", executionMode: "parallel", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

/** Ends every call that runs, in steps, until none does. */
async function endAll(bench: ReturnType<typeof openOrdered>): Promise<void> {
  for (let open = [...bench.write.pending, ...bench.read.pending]; open.length > 0; ) {
    for (const one of open) one.resolve();
    await bench.advance();
    open = [...bench.write.pending, ...bench.read.pending];
  }
}

describe("UNC-2: an uncertain write with a key", () => {
  it("blocks later writes that share a key and later writes without one, and no others", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "k", "same"),
      keyed("write", ["other", "k"], "shares"),
      keyed("write", null, "keyless"),
      keyed("write", "other", "apart"),
      keyed("write", ["x", "y"], "apart2"),
      keyed("read", "k", "read"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual([
      "uncertain",
      "blocked",
      "blocked",
      "blocked",
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });

  it("with several keys blocks by each of them", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", ["a", "b"], "lost"),
      keyed("write", "b", "b"),
      keyed("write", ["c", "a"], "ca"),
      keyed("write", "c", "c"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "blocked", "succeeded"]);
  });

  it("blocks by the key alone, whichever tool the later write is of", async () => {
    const bench = openOrdered();
    const other = keyedTool({ name: "other", risk: "idempotentWrite" });
    bench.session.setTools([bench.write, other]);
    const running = await bench.start([keyed("write", "k", "lost"), keyed("other", "k", "b")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked"]);
  });

  it("keys are compared exactly", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "K", "upper"),
      keyed("write", "k ", "space"),
      keyed("write", "é", "composed"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "succeeded", "succeeded", "succeeded"]);
  });
});

describe("UNC-3: an uncertain write without a key", () => {
  it("blocks every later write of the batch, and no read", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "k", "keyed"),
      keyed("read", "k", "read"),
      keyed("write", null, "keyless"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded", "blocked"]);
  });
});

describe("UNC-1: a read", () => {
  it("that loses its outcome blocks nobody", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("read", "k", "lost"),
      keyed("write", "k", "w"),
      keyed("write", null, "u"),
    ]);
    runningCall(bench.read, 0).reject(new OutcomeUnknownError("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["failed", "succeeded", "succeeded"]);
  });
});

describe("UNC-4: later means not yet dispatched", () => {
  it("calls that run already finish normally, sharing keys or not", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "a", "a"),
      keyed("write", null, "keyless"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    for (const place of [1, 2]) runningCall(bench.write, place).resolve("real");
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["uncertain", "succeeded", "succeeded"]);
    expect(textsOf(result).slice(1)).toEqual(["real", "real"]);
  });

  it("source order does not matter: an earlier call that has not been dispatched is later", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("read", "k", "r"),
      keyed("write", "k", "first"),
      keyed("write", null, "lost"),
    ]);
    expect(runningIn(running.events)).toEqual(["r", "lost"]);
    runningCall(bench.write, 2).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "blocked", "uncertain"]);
  });

  it("a call that was only waiting for a slot is not dispatched: it is blocked", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 1 } });
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("write", "a", "a"),
      keyed("read", "b", "b"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["b"]);
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded"]);
  });
});

describe("UNC-5: judging", () => {
  it("a blocked call settles at once, waits for nothing and names the blocking call", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", ["k", "busy"], "blocked"),
      keyed("read", "busy", "later"),
      keyed("read", "other", "slow"),
    ]);
    expect(running.news()).toEqual(["epoch 0: lost blocked later slow", "lost starts", "slow starts"]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    // It leaves its lanes: the read behind it goes on although nothing else has ended.
    expect(running.news()).toEqual([
      "lost ends uncertain",
      "blocked blocked by lost",
      "blocked ends blocked",
      "later starts",
    ]);
    await endAll(bench);
    const { settled } = await running.result;
    expect(settled[1]).toEqual({
      call: { id: "blocked", name: "write", arguments: { keys: ["k", "busy"] } },
      index: 1,
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
      conflictKeys: ["k", "busy"],
      epoch: 0,
      outcome: "blocked",
      result: {
        content: [
          {
            type: "text",
            text: 'not_executed: the outcome of call "lost" ("write") is unknown and this call could touch the same thing. Find out what became of it first.',
          },
        ],
        isError: true,
        failureCategory: "conflict",
        outcomeUncertain: false,
        terminate: false,
      },
      endedAtMs: expect.any(Number),
    });
  });

  it("a call of a later epoch is judged when its epoch starts", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("read", "r", "read"),
      keyed("write", "k", "w"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(running.news().slice(-2)).toEqual(["epoch 1: read", "read starts"]);
    await endAll(bench);
    await running.result;
    expect(running.news()).toEqual([
      "read ends succeeded",
      "epoch 1 over",
      "epoch 2: w",
      "w blocked by lost",
      "w ends blocked",
      "epoch 2 over",
    ]);
  });

  it("is not itself uncertain: it blocks nobody and holds nothing", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", ["k", "m"], "blocked"),
      keyed("write", "m", "free"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await endAll(bench);
    const result = await running.result;
    expect(outcomesOf(result)).toEqual(["uncertain", "blocked", "succeeded"]);
    expect(result.settled[1]?.startedAtMs).toBeUndefined();
  });

  it("names the first of several that block", async () => {
    const bench = openParallel();
    const running = await bench.start([
      keyed("write", "a", "lost-a"),
      keyed("write", "b", "lost-b"),
      keyed("write", ["b", "a"], "ba"),
    ]);
    runningCall(bench.write, 1).reject(new Error("lost"));
    await bench.advance();
    runningCall(bench.write, 0).reject(new Error("lost"));
    const result = await running.result;
    expect(eventsOf(running.events, "toolBlocked").map(({ callId, blockedBy }) => [callId, blockedBy])).toEqual([
      ["ba", "lost-b"],
    ]);
    expect(outcomesOf(result)).toEqual(["uncertain", "uncertain", "blocked"]);
  });

  it("several are blocked in source order, wherever each of them waits", async () => {
    const bench = openParallel({ limits: { maxConcurrentTools: 2 } });
    const running = await bench.start([
      keyed("write", null, "lost"),
      keyed("read", "k", "r"),
      keyed("write", "k", "lane"),
      keyed("write", "x", "slot"),
      keyed("write", ["k", "x"], "both"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    expect(eventsOf(running.events, "toolBlocked").map(({ callId }) => callId)).toEqual(["lane", "slot", "both"]);
    await endAll(bench);
    await running.result;
  });

  it("an epoch whose calls are all blocked is over at once", async () => {
    const bench = openParallel();
    const other = keyedTool({ name: "alone", executionMode: "sequential" });
    bench.session.setTools([bench.write, bench.read, other]);
    const running = await bench.start([
      keyed("alone", null, "lost"),
      keyed("write", "a", "a"),
      keyed("write", "b", "b"),
      keyed("alone", "c", "c"),
      keyed("read", "d", "d"),
    ]);
    runningCall(other, 0).reject(new Error("lost"));
    await bench.advance();
    expect(runningIn(running.events)).toEqual(["d"]);
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "blocked", "blocked", "succeeded"]);
  });

  it("blocked is final: a later resolution changes no settled result", async () => {
    const bench = openOrdered();
    const running = await bench.start([
      keyed("write", "k", "lost"),
      keyed("write", "k", "blocked"),
      keyed("read", "r", "read"),
      keyed("write", "k", "after"),
    ]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await bench.advance();
    await bench.session.resolveUncertain("lost", { status: "committed" });
    await endAll(bench);
    expect(outcomesOf(await running.result)).toEqual(["uncertain", "blocked", "succeeded", "succeeded"]);
  });
});

describe("UNC-6: how long an uncertain write blocks", () => {
  it("scope batch, the default: the next batch may write again", async () => {
    const bench = openOrdered();
    const lost = await bench.start([keyed("write", "k", "lost"), keyed("write", "k", "blocked")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await lost.result)).toEqual(["uncertain", "blocked"]);
    const next = await bench.start([keyed("write", "k", "a"), keyed("write", null, "b")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded", "succeeded"]);
  });

  it("scope run: beyond its batch it blocks writes that share a key, and neither keyless ones nor reads", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", ["k", "m"], "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await lost.result;
    for (const turn of [2, 3]) {
      const next = await bench.start([
        keyed("write", "m", "same"),
        keyed("write", "other", "other"),
        keyed("write", null, "keyless"),
        keyed("read", "k", "read"),
      ]);
      await endAll(bench);
      expect([turn, outcomesOf(await next.result)]).toEqual([turn, ["blocked", "succeeded", "succeeded", "succeeded"]]);
    }
  });

  it("scope run: one without a key ends with its batch", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", null, "lost"), keyed("write", "k", "blocked")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await lost.result)).toEqual(["uncertain", "blocked"]);
    const next = await bench.start([keyed("write", "k", "a")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });

  it("scope run: it lasts until it is resolved", async () => {
    const bench = openOrdered({ uncertainWriteScope: "run" });
    const lost = await bench.start([keyed("write", "k", "lost")]);
    runningCall(bench.write, 0).reject(new Error("lost"));
    await lost.result;
    await bench.session.resolveUncertain("lost", { status: "failed", details: { checked: "by hand" } });
    const next = await bench.start([keyed("write", "k", "a")]);
    await endAll(bench);
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });
});

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

describe("UNC-4, UNC-5: a listener or hook that acts in the very moment of an uncertain end", () => {
  // Two sessions share lanes. In the moment in which `lost` ends the second session is cancelled, whose call
  // stood in lane m before `next`: so `next` becomes startable and blocked in one moment.
  it.each(["listener", "afterToolCall"])("of %s cannot start what that end blocks, and costs no lane", async (who) => {
    const lanes = createLanes();
    const controller = new AbortController();
    const afterToolCall: AfterToolCall = ({ call: { id } }) => {
      if (who === "afterToolCall" && id === "lost") controller.abort();
      return undefined;
    };
    const one = openParallel({ lanes, hooks: { afterToolCall } });
    const two = openParallel({ lanes });
    const other = two.session.execute([keyed("read", "z", "busy"), keyed("read", ["z", "m"], "waits")], {
      signal: controller.signal,
    });
    await two.advance();
    const batch = one.session.execute([keyed("write", null, "lost"), keyed("write", "m", "next")]);
    batch.subscribe((event) => {
      if (who === "listener" && event.kind === "toolEnded" && event.callId === "lost") controller.abort();
    });
    await one.advance();
    runningCall(one.write, 0).reject(new Error("lost"));
    expect(outcomesOf(await batch.result)).toEqual(["uncertain", "blocked"]);
    runningCall(two.read, 0).resolve();
    expect(outcomesOf(await other.result)).toEqual(["succeeded", "cancelled"]);
    const after = await one.start([keyed("write", "m", "a"), keyed("write", "z", "b")]);
    expect(runningIn(after.events)).toEqual(["a", "b"]);
    await endAll(one);
    await after.result;
  });
});
