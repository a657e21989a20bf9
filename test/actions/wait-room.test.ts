import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { memoryJournal } from "../../src/journal/memory.ts";
import { gate, intentOf, makeRig, withProtocol } from "./rig.ts";

const ON_KEY = { conflictKeys: ["k"] };

/** A memory journal that counts who listens to what it releases. */
function countedJournal() {
  const counts = { listening: 0 };
  const journal = withProtocol(memoryJournal(), (protocol) => ({
    onReleased: (listener) => {
      const stop = protocol.onReleased(listener);
      counts.listening += 1;
      return () => {
        counts.listening -= 1;
        stop();
      };
    },
  }));
  return { journal, counts };
}

describe("where dispatches wait", () => {
  it("ACT-4: a journal is listened to while somebody may have to wait, and by nobody otherwise", async () => {
    const { journal, counts } = countedJournal();
    const rig = makeRig({ journal: () => journal });
    expect(counts.listening).toBe(0);
    const first = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    await rig.settle();
    expect(counts.listening).toBe(0);
    const others = ["b", "c"].map((id) => rig.dispatcher.dispatch(intentOf(id, ON_KEY)));
    await rig.settle();
    expect(counts.listening).toBe(1);
    for (let place = 0; place < 3; place += 1) {
      rig.calls[place]?.commit();
      await rig.settle();
    }
    expect((await Promise.all([first, ...others])).map(({ disposition }) => disposition)).toEqual(
      Array.from({ length: 3 }, () => "executed"),
    );
    expect(counts.listening).toBe(0);
  });

  it("ACT-4: nobody listens any more when a wait is over, or the journal could not answer, or somebody else was asked", async () => {
    const { journal, counts } = countedJournal();
    const rig = makeRig({ journal: () => journal, recover: () => undefined });
    const holding = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
    await rig.settle();
    const waiting = rig.dispatcher.dispatch(intentOf("b", ON_KEY));
    await rig.advance(30_000);
    expect((await waiting).disposition).toBe("conflictBlocked");
    expect(counts.listening).toBe(0);
    rig.calls[0]?.fail(new Error("lost"));
    await holding;
    expect(await rig.dispatcher.reconcile("a")).toBeUndefined();
    expect(counts.listening).toBe(0);
    await journal.close();
    await expect(rig.dispatcher.dispatch(intentOf("c"))).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(counts.listening).toBe(0);
  });

  it("ACT-4: a thousand dispatchers that are let go leave nothing with their journal", () => {
    const { journal, counts } = countedJournal();
    const handler = { execute: () => Promise.reject(new Error("never called")) };
    for (let place = 0; place < 1_000; place += 1) new GameActionDispatcher({ journal, handler });
    expect(counts.listening).toBe(0);
  });

  it.each(["a", "b"])(
    "ACT-4: what is released after the journal said to wait, and before anybody stands in line, is looked at (%s)",
    async (second) => {
      const [told, ended] = [gate(), gate()];
      const rig = makeRig({
        journal: (journal) =>
          withProtocol(journal, (protocol) => ({
            claim: async (request) => {
              const answer = await protocol.claim(request);
              if (answer.kind === "claimed" || answer.kind === "final") return answer;
              told.open();
              await ended.opened;
              return answer;
            },
          })),
      });
      const first = rig.dispatcher.dispatch(intentOf("a", ON_KEY));
      await rig.settle();
      const next = rig.dispatcher.dispatch(intentOf(second, ON_KEY));
      await told.opened;
      rig.calls[0]?.commit();
      await first;
      ended.open();
      await rig.settle();
      rig.calls[1]?.commit();
      expect((await next).disposition).toBe(second === "a" ? "replayed" : "executed");
    },
  );
});
