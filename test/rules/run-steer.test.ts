import type { AgentHooks, KernelEvent, Message, Run } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf, recordingTool } from "../support/run-calls.ts";
import { isAt, playSaying, READ_ONCE, steer } from "../support/run-steer-scene.ts";

const AFTER_RESULTS = [...["user go", "assistant read#read", "result read ok", "user look here", "assistant one"]];

describe("steering", () => {
  it.each([
    ["before the first request", isAt("runStarted", 0)],
    ["while the turn is prepared", isAt("turnStarted", 1)],
    ["during a model request", isAt("modelRequestStarted", 1)],
    ["when the response has come", (event: KernelEvent) => event.kind === "messageEnded" && event.turn === 1],
    ["during the preparation of calls", isAt("toolStarted", 1)],
    ["between preparation and dispatch", isAt("toolPrepared", 1)],
    ["during an epoch", isAt("toolDispatched", 1)],
    ["when a call ends", isAt("toolEnded", 1)],
    ["when the epoch is over", isAt("epochSettled", 1)],
    ["at the turn boundary", isAt("turnEnded", 1)],
  ])("RUN-3: %s is delivered after the running batch's results", async (_what, place) => {
    const played = await playSaying(steer, place);
    expect(linesOf(played.result.messages)).toEqual(AFTER_RESULTS);
    expect([endOf(played), played.result.undelivered]).toEqual(["completed by noCalls", []]);
  });

  it("RUN-3: during prepareNextTurn waits for the next boundary, and an answer without calls ends nothing then", async () => {
    let run: Run | undefined;
    const hooks: AgentHooks = {
      prepareNextTurn: async ({ turn }) => {
        if (turn === 1) run?.steer("look here");
        return undefined;
      },
    };
    const bench = openAgentBench({ hooks, script: [say("one"), say("two")] });
    const followed = bench.start();
    run = followed.run;
    const played = await followed.finish();
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant one", "user look here", "assistant two"]);
  });

  it("RUN-3: during a model request that hangs waits for its answer", async () => {
    let answer: (response: ReturnType<typeof say>) => void = () => undefined;
    const asked: (readonly string[])[] = [];
    const model = {
      generate: ({ messages }: { messages: readonly Message[] }) => {
        asked.push(linesOf(messages));
        return new Promise<ReturnType<typeof say>>((resolve) => {
          answer = resolve;
        });
      },
    };
    const bench = openAgentBench({ model });
    const { run, finish } = bench.start();
    await bench.advance(1_000);
    expect(run.steer("look here")).toEqual({ accepted: true });
    await bench.advance(1_000);
    answer(ask("read"));
    await bench.advance();
    answer(say("done"));
    const played = await finish();
    expect(asked).toEqual([["user go"], AFTER_RESULTS.slice(0, 4)]);
    expect(endOf(played)).toBe("completed by noCalls");
  });

  it("RUN-3: during an epoch stops none of its calls and no later epoch", async () => {
    const write = controllableTool({ name: "write" });
    const bench = openAgentBench({
      tools: [write],
      script: [ask(callPart("write", "a"), callPart("write", "b")), say()],
    });
    const { run, events, finish } = bench.start();
    await bench.advance();
    run.steer("look here");
    await bench.advance();
    write.pending[0]?.resolve("a");
    await bench.advance();
    expect(eventsOf(events, "messageEnded").map(({ message }) => message.role)).toEqual(["user", "assistant"]);
    write.pending[0]?.resolve("b");
    const played = await finish();
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant write#a, write#b", "result a a", "result b b", "user look here", "assistant done"],
    ]);
  });

  it.each([
    ["when the last turn ends", isAt("turnEnded", 2)],
    ["when the last answer has come", (event: KernelEvent) => event.kind === "messageEnded" && event.turn === 2],
    ["while the last answer is streamed", isAt("messageUpdated", 2)],
  ])("RUN-3: after the last turn (%s) continues the run", async (_what, place) => {
    const played = await playSaying(steer, place);
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#read", "result read ok", "assistant one", "user look here", "assistant two"],
    ]);
  });

  it("RUN-3: while shouldStopAfterTurn is asked continues the run that it lets go on", async () => {
    let run: Run | undefined;
    const hooks: AgentHooks = {
      shouldStopAfterTurn: async ({ turn }) => {
        if (turn === 1) run?.steer("look here");
        return false;
      },
    };
    const bench = openAgentBench({ hooks, script: [say("one"), say("two")] });
    const followed = bench.start();
    run = followed.run;
    expect(linesOf((await followed.finish()).result.messages)).toEqual([
      ...["user go", "assistant one", "user look here", "assistant two"],
    ]);
  });

  it("RUN-3: by a tool itself is delivered after its own result", async () => {
    let run: Run | undefined;
    const tool = { ...recordingTool().tool, execute: () => JSON.stringify(run?.steer("look here")) };
    const bench = openAgentBench({ tools: [tool], script: READ_ONCE });
    const followed = bench.start();
    run = followed.run;
    expect(linesOf((await followed.finish()).result.messages)).toEqual([
      ...["user go", "assistant read#read", 'result read {"accepted"', "user look here", "assistant one"],
    ]);
  });

  it("RUN-3: keeps its order, and comes all at once", async () => {
    const played = await playSaying(
      (run) => {
        for (const text of ["s1", "s2", "s3"]) run.steer(text);
      },
      isAt("toolDispatched", 1),
    );
    expect(linesOf(played.result.messages).slice(3)).toEqual(["user s1", "user s2", "user s3", "assistant one"]);
    expect(played.requests).toHaveLength(2);
  });

  it("RUN-3: takes a message with parts as it is", async () => {
    const message = { role: "user", content: [{ type: "json", value: { look: "here" } }] } as const;
    const played = await playSaying((run) => run.steer(message), isAt("toolEnded", 1));
    expect(played.result.messages[3]).toEqual(message);
  });

  it("RUN-3: is told of when it is accepted, and never before the run's first event", async () => {
    const bench = openAgentBench({ script: [say(), say(), say()] });
    const { run, events, finish } = bench.start();
    run.steer("s");
    run.followUp("f");
    await finish();
    expect(loopStory(events).slice(0, 4)).toEqual([
      "runStarted",
      "messageQueued",
      "messageQueued",
      "messageEnded user",
    ]);
    expect(eventsOf(events, "messageQueued").map(({ queue }) => queue)).toEqual(["steering", "followUp"]);
  });
});

describe("a follow-up", () => {
  it("RUN-3: is delivered when the loop would end, not before", async () => {
    const script = [ask("read"), ask(callPart("read", "r2", { n: 2 })), say("one"), say("two")];
    const played = await playSaying((run) => run.followUp("and then?"), isAt("runStarted", 0), { script });
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant read#read", "result read ok", "assistant read#r2", "result r2 ok", "assistant one"],
      ...["user and then?", "assistant two"],
    ]);
  });

  it("RUN-3: comes behind steering, in an order of its own", async () => {
    const script = [say("one"), say("two"), say("three")];
    const played = await playSaying(
      (run) => {
        run.followUp("f1");
        run.steer("s1");
        run.followUp("f2");
        run.steer("s2");
      },
      isAt("turnStarted", 1),
      { script },
    );
    expect(linesOf(played.result.messages)).toEqual([
      ...["user go", "assistant one", "user s1", "user s2", "assistant two", "user f1", "user f2", "assistant three"],
    ]);
  });

  it("RUN-3: keeps a run going that asks for more each time it ends, up to its limits", async () => {
    const bench = openAgentBench({ script: Array.from({ length: 40 }, () => say()), limits: { maxTurns: 5 } });
    const { run, finish } = bench.start();
    run.subscribe((event) => {
      if (event.kind === "turnEnded") run.followUp("more");
    });
    const played = await finish();
    expect([endOf(played), bench.requests.length]).toEqual(["limitExceeded by maxTurns", 5]);
    expect(linesOf(played.result.undelivered)).toEqual(["user more"]);
  });
});
