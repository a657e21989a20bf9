import { describe, expect, it } from "vitest";
import { createActor, createMachine } from "xstate";
import { leftoversSince, markNow } from "./leftovers.ts";
import { trackedClock, trackedSignal } from "./tracked.ts";

function kindsSince(mark: ReadonlySet<unknown>): string[] {
  return leftoversSince(mark).map(({ kind }) => kind);
}

describe("what a test leaves behind is found", () => {
  it("a timer counts until it is cleared", () => {
    const mark = markNow();
    const handle = setTimeout(() => undefined, 60_000);
    expect(leftoversSince(mark)).toEqual([
      { kind: "timer", description: expect.stringContaining("leftovers.test.ts") },
    ]);
    clearTimeout(handle);
    expect(kindsSince(mark)).toEqual([]);
  });

  it("a timer counts until it has run", async () => {
    const mark = markNow();
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 0);
      expect(kindsSince(mark)).toEqual(["timer"]);
    });
    expect(kindsSince(mark)).toEqual([]);
  });

  it("an interval counts until it is cleared, and a timer set before the mark does not", () => {
    const early = setTimeout(() => undefined, 60_000);
    const mark = markNow();
    const handle = setInterval(() => undefined, 60_000);
    expect(kindsSince(mark)).toEqual(["timer"]);
    clearInterval(handle);
    expect(kindsSince(mark)).toEqual([]);
    clearTimeout(early);
  });

  it("an actor counts until it is done or stopped", () => {
    const machine = createMachine({
      initial: "open",
      states: { open: { on: { END: "done" } }, done: { type: "final" } },
    });
    const mark = markNow();
    const ending = createActor(machine).start();
    const stopping = createActor(machine).start();
    expect(kindsSince(mark)).toEqual(["actor", "actor"]);
    ending.send({ type: "END" });
    expect(kindsSince(mark)).toEqual(["actor"]);
    stopping.stop();
    expect(kindsSince(mark)).toEqual([]);
  });

  it("a listener on a tracked signal counts until it is removed", () => {
    const mark = markNow();
    const { signal } = trackedSignal("of this test");
    const listener = (): void => undefined;
    signal.addEventListener("abort", listener);
    expect(leftoversSince(mark)).toEqual([{ kind: "listener", description: "1 on signal of this test" }]);
    signal.removeEventListener("abort", listener);
    expect(kindsSince(mark)).toEqual([]);
  });

  it("a timer on a tracked clock counts until it is taken back", () => {
    const mark = markNow();
    const { clock } = trackedClock("of this test");
    const takeBack = clock.setTimer(clock.now() + 1, () => undefined);
    expect(leftoversSince(mark)).toEqual([{ kind: "clockTimer", description: "1 on clock of this test" }]);
    takeBack();
    expect(kindsSince(mark)).toEqual([]);
  });
});
