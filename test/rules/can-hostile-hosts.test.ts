import { type Clock, createLanes, createToolSession } from "toolkernel";
import { type SimulatedClock, simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { THEN, trap, writeOf } from "../support/can-hostile-scene.ts";
import { follow, keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, eventsOf, outcomesOf } from "../support/run-calls.ts";

describe("CAN-4: abandoned executors of every manner", () => {
  it("may do whatever they like afterwards: the session works on, nothing is unhandled", async () => {
    const ends: (() => void)[] = [];
    const tools = [
      writeOf(() => new Promise((resolve) => ends.push(() => resolve(new Proxy({}, { get: trap })))), {
        name: "proxy",
      }),
      writeOf(() => new Promise((_resolve, reject) => ends.push(() => reject(trap))), { name: "rejects" }),
      writeOf(
        async function* () {
          await new Promise<void>((resolve) => ends.push(resolve));
          yield 1;
          trap();
        },
        { name: "stream" },
      ),
      writeOf(
        () => ({ [THEN]: (_: unknown, fail: (error: unknown) => void) => ends.push(() => fail(new Error("x"))) }),
        {
          name: "thenable",
        },
      ),
      writeOf(
        (_args, { progress }) =>
          new Promise((resolve) => ends.push(() => void [progress(1n), resolve(1n), progress(2)])),
        { name: "progress" },
      ),
    ];
    const bench = openBench({ tools, toolExecution: "parallel" });
    const lost = await bench.start(tools.map(({ name }) => call(name)));
    await bench.advance(1_100);
    expect(new Set(outcomesOf(await lost.result))).toEqual(new Set(["uncertain"]));
    const next = await bench.start([call("progress", {}, "next")]);
    expect(runningIn(next.events)).toEqual([]);
    for (const end of ends.splice(0)) end();
    await bench.advance();
    expect(new Set(eventsOf(next.events, "toolLateSettled").map(({ callId }) => callId))).toEqual(
      new Set(tools.map(({ name }) => name)),
    );
    expect(runningIn(next.events)).toEqual(["next"]);
    for (const end of ends) end();
    expect(outcomesOf(await next.result)).toEqual(["succeeded"]);
  });
});

describe("CAN-4: hosts whose own ports misbehave", () => {
  it("a telemetry sink that throws changes nothing", async () => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], telemetry: { record: trap } });
    const running = await bench.start([call("read")]);
    runningCall(read, 0).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it.each(["compiled", "xstate"] as const)("an inspector that throws changes nothing (%s)", async (interpreter) => {
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], inspect: trap, interpreter });
    const running = await bench.start([call("read"), call("read", {}, "b")]);
    for (const place of [0, 1]) runningCall(read, place).resolve();
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
  });

  /** A clock whose timers fail once, when `isBroken` says so. A session on it keeps that one in its books. */
  function brokenOnce({ clock }: SimulatedClock) {
    const broken = { isBroken: false };
    const setTimer: Clock["setTimer"] = (atMs, run) => {
      if (!broken.isBroken) return clock.setTimer(atMs, run);
      broken.isBroken = false;
      return trap();
    };
    return { broken, clock: { now: clock.now, setTimer } };
  }

  it.each(["compiled", "xstate"] as const)(
    "a clock that throws ends the session with KERNEL_STUCK, and nothing else of the process (%s)",
    async (interpreter) => {
      const simulated = simulatedClock();
      const { broken, clock } = brokenOnce(simulated);
      const read = keyedTool({ name: "read", risk: "readOnly" });
      const session = createToolSession({ tools: [read], clock, interpreter });
      broken.isBroken = true;
      const running = follow(session.execute([call("read"), call("read", {}, "b")]));
      const queued = session.execute([call("read")]);
      for (const { result } of [running, queued]) {
        await expect(result).rejects.toMatchObject({ code: "KERNEL_STUCK", cause: { message: "trap" } });
      }
      expect(() => session.execute([])).toThrowError(expect.objectContaining({ code: "KERNEL_STUCK" }));
      await session.close();
      await simulated.advance(1_000);
      expect(read.pending).toEqual([]);
    },
  );

  it("a session that is stuck starts nothing more and gives back the lanes it shares", async () => {
    const simulated = simulatedClock();
    const lanes = createLanes();
    const { broken, clock } = brokenOnce(simulated);
    const [one, two] = [0, 1].map(() => keyedTool({ name: "read", risk: "readOnly" }));
    if (one === undefined || two === undefined) throw new Error("two tools were made");
    const stuck = createToolSession({ tools: [one], clock, lanes });
    const keys = ["k", ["k", "m"], ["k", "n"]];
    const first = follow(stuck.execute(keys.map((key, place) => call("read", { keys: key }, `a${place}`))));
    await simulated.advance(0);
    const other = openBench({ simulated, tools: [two], lanes });
    const second = await other.start([call("read", { keys: "m" }, "c"), call("read", { keys: "n" }, "d")]);
    expect(runningIn(second.events)).toEqual([]);
    broken.isBroken = true;
    runningCall(one, 0).resolve();
    await expect(first.result).rejects.toMatchObject({ code: "KERNEL_STUCK" });
    expect(first.log().filter((line) => line.endsWith("starts"))).toEqual(["a0 starts", "a1 starts"]);
    await simulated.advance(1_000);
    expect(runningIn(second.events)).toEqual(["d", "c"]);
    for (const place of [0, 1]) runningCall(two, place).resolve();
    expect(outcomesOf(await second.result)).toEqual(["succeeded", "succeeded"]);
  });
});
