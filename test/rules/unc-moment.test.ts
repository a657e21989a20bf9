import { type AfterToolCall, createLanes } from "toolkernel";
import { describe, expect, it } from "vitest";
import { runningCall, runningIn } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";
import { endAll, keyed, openParallel } from "../support/unc-blocking-scene.ts";

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
