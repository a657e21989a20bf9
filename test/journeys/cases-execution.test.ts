import { toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { peakOf, runningIn } from "../support/execution-bench.ts";
import { call, eventsOf, outcomesOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { openWorld, playIn as play } from "../support/timed-world.ts";

const edit = (path: string, oldText: string, newText: string) =>
  call("edit", { path, oldText, newText }, `${path}:${oldText}`);

const read = (path: string, id = path) => call("read", { path }, id);

const shell = (command: string) => call("shell", { command }, command);

const lines = (): string => Array.from({ length: 100 }, (_, place) => `${place + 1}`).join("\n");

describe("one resource", () => {
  const parallelEdits = { overrides: { edit: { executionMode: "parallel" } }, toolExecution: "parallel" } as const;
  const changes = [edit("race-test.txt", "50", "FIFTY"), edit("race-test.txt", "75", "SEVENTY-FIVE")];

  it("C01: two parallel edits of one file are both in it, in source order; two files overlap", async () => {
    const { world, bench } = openWorld(parallelEdits);
    world.files.set("race-test.txt", lines());
    const running = await play(bench, changes);
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
    expect(world.files.get("race-test.txt")).toBe(lines().replace("50", "FIFTY").replace("75", "SEVENTY-FIVE"));
    expect(peakOf(running.events)).toBe(1);
    world.files.set("a", "1").set("b", "1");
    expect(peakOf((await play(bench, [edit("a", "1", "2"), edit("b", "1", "2")])).events)).toBe(2);
    expect([world.files.get("a"), world.files.get("b")]).toEqual(["2", "2"]);
  });

  it("C01: without its key the same tool does lose an edit, so that the case above means something", async () => {
    const { world, bench } = openWorld({
      ...parallelEdits,
      overrides: { edit: { executionMode: "parallel", conflictKey: undefined } },
    });
    world.files.set("race-test.txt", lines());
    await play(bench, changes);
    expect(world.files.get("race-test.txt")).toBe(lines().replace("75", "SEVENTY-FIVE"));
  });

  it("C03: another tool on the same file waits: a shell without a key is a barrier", async () => {
    const { world, bench } = openWorld();
    world.files.set("f", "a c");
    const running = await play(bench, [shell("sed -i s/a/b/ f"), edit("f", "c", "d")]);
    expect(outcomesOf(await running.result)).toEqual(["succeeded", "succeeded"]);
    expect(world.files.get("f")).toBe("b d");
    expect(world.log).toEqual(["sed -i s/a/b/ f begins", "sed -i s/a/b/ f ends", "edit f begins", "edit f ends"]);
  });

  it("C03: keys are names shared by all tools: with the same key both may be marked parallel", async () => {
    const { world, bench } = openWorld({
      overrides: {
        shell: { executionMode: "parallel", conflictKey: () => "file:f" },
        edit: { executionMode: "parallel" },
      },
    });
    world.files.set("f", "a c").set("g", "c");
    const running = await play(bench, [shell("sed -i s/a/b/ f"), edit("f", "c", "d"), edit("g", "c", "d")]);
    expect([world.files.get("f"), world.files.get("g"), peakOf(running.events)]).toEqual(["b d", "d", 2]);
  });
});

describe("order", () => {
  const commands = [shell("git add -A"), shell("git commit -m x")];

  it("C04: git add and git commit are two ordered epochs of one call", async () => {
    const { world, bench } = openWorld();
    const running = await play(bench, commands);
    expect(eventsOf(running.events, "epochStarted").map(({ callIds }) => callIds)).toEqual([
      ["git add -A"],
      ["git commit -m x"],
    ]);
    const [add, commit] = (await running.result).settled;
    expect((commit?.startedAtMs ?? 0) >= (add?.endedAtMs ?? Number.POSITIVE_INFINITY)).toBe(true);
    expect(world.log).toEqual([
      "git add -A begins",
      "git add -A ends",
      "git commit -m x begins",
      "git commit -m x ends",
    ]);
  });

  it("C06: in mode sequential all are prepared first, then each runs alone, and none is dropped", async () => {
    const { bench } = openWorld({ toolExecution: "sequential" });
    const running = await play(bench, [...commands, read("a"), read("b")]);
    const kinds = running.events.map(({ kind }) => kind);
    expect(kinds.lastIndexOf("toolPrepared")).toBeLessThan(kinds.indexOf("epochStarted"));
    expect(eventsOf(running.events, "epochStarted").map(({ callIds }) => callIds.length)).toEqual([1, 1, 1, 1]);
    const result = await running.result;
    expect([peakOf(running.events), outcomesOf(result), result.messages.length]).toEqual([
      1,
      ["succeeded", "succeeded", "succeeded", "succeeded"],
      4,
    ]);
  });

  it("C09: a barrier in the middle is no switch for the whole response", async () => {
    const { world, bench } = openWorld({ overrides: { edit: { executionMode: "sequential" } } });
    world.files.set("x", "1");
    const running = await play(bench, [read("a"), read("b"), edit("x", "1", "2"), read("c"), read("d")]);
    expect(eventsOf(running.events, "epochStarted").map(({ callIds }) => callIds)).toEqual([
      ["a", "b"],
      ["x:1"],
      ["c", "d"],
    ]);
    expect(running.log().filter((line) => !line.startsWith("epoch"))).toEqual([
      "a starts",
      "b starts",
      "a ends succeeded",
      "b ends succeeded",
      "x:1 starts",
      "x:1 ends succeeded",
      "c starts",
      "d starts",
      "c ends succeeded",
      "d ends succeeded",
    ]);
  });

  it("C10: events come as calls complete, messages as the model asked, and other delays change no byte of them", async () => {
    const playWith = async (delays: readonly [number, number]) => {
      const { world, bench } = openWorld({
        overrides: {
          slow: {
            execute: async (_args: never, { callIndex, callId }) => {
              await world.wait(delays[callIndex] ?? 0);
              return callId;
            },
          },
        },
      });
      const running = await play(bench, [call("slow", { ms: 0 }, "first"), call("slow", { ms: 1 }, "second")]);
      return { ended: eventsOf(running.events, "toolEnded").map(({ callId }) => callId), ...(await running.result) };
    };
    const [one, other] = [await playWith([30, 10]), await playWith([10, 30])];
    expect(one.ended).toEqual(["second", "first"]);
    expect(other.ended).toEqual(["first", "second"]);
    expect(one.messages.map((message) => "callId" in message && message.callId)).toEqual(["first", "second"]);
    expect(JSON.stringify(other.messages)).toBe(JSON.stringify(one.messages));
  });
});

describe("many calls", () => {
  const many = Array.from({ length: 792 }, (_, place) => call("slow", { ms: 5 }, `c${place}`));
  const noRepeats = { exactToolRepeatAdvisoryThreshold: 0, exactToolRepeatTerminationThreshold: 0 };

  it("C07: 792 calls run eight at a time, and all results stand in order", async () => {
    const { bench } = openWorld({ limits: { maxToolCallsPerTurn: 1_000, ...noRepeats } });
    const running = await bench.start(many);
    let peak = 0;
    while (runningIn(running.events).length > 0) {
      peak = Math.max(peak, runningIn(running.events).length);
      await bench.advance(5);
    }
    const { messages } = await running.result;
    expect(peak).toBe(8);
    expect(messages.map((message) => "callId" in message && [message.callId, message.content])).toEqual(
      many.map(({ id }) => [id, [{ type: "text", text: id }]]),
    );
  });

  it("C07: over the limit of a response all of it is refused, with typed results, before anything is dispatched", async () => {
    const { bench } = openWorld({ limits: noRepeats });
    const running = await play(bench, many);
    const result = await running.result;
    expect(new Set(verdictsOf(result))).toEqual(new Set(["refused:invalidArguments"]));
    expect(new Set(textsOf(result))).toEqual(
      new Set([
        "not_executed: too_many_calls: the response has 792 calls, over limits.maxToolCallsPerTurn (32). Send fewer.",
      ]),
    );
    expect([result.messages.length, result.closed, eventsOf(running.events, "toolDispatched")]).toEqual([
      792,
      false,
      [],
    ]);
  });

  it("C12: one of 27 reads that answers an error costs no other", async () => {
    const { bench } = openWorld({
      overrides: {
        read: {
          execute: ({ path }: { path: string }) =>
            path === "5"
              ? toolResult({ content: "no such file", isError: true, failureCategory: "ruleRejected" })
              : "text",
        } as never,
      },
    });
    const running = await play(
      bench,
      Array.from({ length: 27 }, (_, place) => read(`${place + 1}`)),
    );
    const verdicts = verdictsOf(await running.result);
    expect(verdicts.splice(4, 1)).toEqual(["failed:ruleRejected"]);
    expect(verdicts).toEqual(Array.from({ length: 26 }, () => "succeeded"));
  });
});
