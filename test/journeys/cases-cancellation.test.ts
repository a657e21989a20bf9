import type { ToolContext } from "toolkernel";
import { describe, expect, it } from "vitest";
import { logOf, type Running } from "../support/execution-bench.ts";
import { call, eventsOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { openWorld, playIn as play } from "../support/timed-world.ts";
import { trackedSignal } from "../support/tracked.ts";

const read = (path: string, id = path) => call("read", { path }, id);

const shell = (command: string) => call("shell", { command }, command);

describe("cancellation", () => {
  it.each(["host shutdown", "the user pressed stop", "a sibling policy"])(
    "C13: the reason the host gives is told for what ran and for what did not: %s",
    async (reason) => {
      const { bench } = openWorld();
      const { signal, abort } = trackedSignal();
      const running = await bench.start([call("slow", { ms: 60_000 }, "ran"), shell("git push")], { signal });
      abort(reason);
      await bench.advance(60_000);
      const result = await running.result;
      expect(verdictsOf(result)).toEqual(["cancelled:cancelled", "cancelled:cancelled"]);
      expect(textsOf(result)).toEqual([
        `The call was cancelled while it ran. Reason: ${reason}`,
        `not_executed: cancelled before dispatch. Nothing happened. Reason: ${reason}`,
      ]);
      const ended = eventsOf(running.events, "toolEnded").map(({ outcome, failureCategory, result: told }) => [
        outcome,
        failureCategory,
        told.content,
      ]);
      expect(ended).toEqual(
        result.settled.map(({ outcome, result: told }) => [outcome, told.failureCategory, told.content]),
      );
    },
  );

  it("C13: a limit, an uncertain write and the loop guard look like no user's interruption", async () => {
    const { bench } = openWorld({
      limits: { maxToolCallsPerTurn: 3, exactToolRepeatAdvisoryThreshold: 1, exactToolRepeatTerminationThreshold: 2 },
      overrides: { shell: { execute: async () => Promise.reject(new Error("connection lost")) } },
    });
    const byLimit = await play(
      bench,
      ["a", "b", "c", "d"].map((path) => read(path)),
    );
    const byUncertainty = await play(bench, [shell("git push"), shell("git tag x")]);
    const byGuard = await play(bench, [read("a", "a1"), read("a", "a2")]);
    const verdicts = async ({ result }: Running) => new Set(verdictsOf(await result));
    expect([await verdicts(byLimit), await verdicts(byUncertainty), await verdicts(byGuard)]).toEqual([
      new Set(["refused:invalidArguments"]),
      new Set(["uncertain:internal", "blocked:conflict"]),
      new Set(["succeeded", "repeatTerminated:conflict"]),
    ]);
  });

  it("C15: what a write answers after the cancellation and within the grace is its result, with its real times", async () => {
    const { world, bench } = openWorld({
      overrides: {
        send: {
          execute: async () => {
            await world.wait(50);
            return { done: true };
          },
        },
      },
    });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([call("send", { to: "a", body: "b" })], { signal });
    await bench.advance(10);
    abort();
    await bench.advance(40);
    const [settled] = (await running.result).settled;
    expect([
      settled?.outcome,
      settled?.result.content,
      (settled?.endedAtMs ?? 0) - (settled?.startedAtMs ?? 0),
    ]).toEqual(["succeeded", [{ type: "json", value: { done: true } }], 50]);
  });

  it("C15: one that never answers is uncertain, neither a success nor a failure of anybody's invention", async () => {
    const { bench } = openWorld({ overrides: { send: { execute: () => new Promise(() => undefined) } } });
    const { signal, abort } = trackedSignal();
    const running = await bench.start([call("send", { to: "a", body: "b" })], { signal });
    await bench.advance(10);
    abort();
    await bench.advance(1_000);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:cancelled"]);
  });
});

describe("progress", () => {
  it("C21: after a call's end nothing is told of it any more, from whichever call's hands", async () => {
    const stolen: ((update: unknown) => void)[] = [];
    const { world, bench } = openWorld({
      overrides: {
        slow: {
          execute: async ({ ms }: { ms: number }, { progress, callId }: ToolContext) => {
            stolen.push(progress);
            progress(`${callId} begins`);
            await world.wait(ms);
            for (const other of stolen) other(`told by ${callId}`);
          },
        } as never,
      },
    });
    const running = await play(bench, [call("slow", { ms: 10 }, "a"), call("slow", { ms: 20 }, "b")]);
    for (const progress of stolen) progress("long after");
    await bench.advance(10);
    expect(logOf(running.events)).toEqual([
      "epoch 0: a b",
      "a starts",
      'a says "a begins"',
      "b starts",
      'b says "b begins"',
      'a says "told by a"',
      'b says "told by a"',
      "a ends succeeded",
      'b says "told by b"',
      "b ends succeeded",
      "epoch 0 over",
    ]);
  });
});
