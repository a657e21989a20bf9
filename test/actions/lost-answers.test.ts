import { describe, expect, it } from "vitest";
import { KernelError } from "../../src/domain/errors.ts";
import { ANSWER_LOST, type JournalProtocol, NOTHING_WRITTEN } from "../../src/domain/journal.ts";
import { trackedSignal } from "../support/tracked.ts";
import { intentOf, makeRig, withProtocol } from "./rig.ts";

const lost = new KernelError("JOURNAL_UNAVAILABLE", "lost", { subject: ANSWER_LOST });
const unsent = new KernelError("JOURNAL_UNAVAILABLE", "unsent", { subject: NOTHING_WRITTEN });

/** A dispatcher whose journal is cut off: claims get there while `reaches`, and no answer comes back while `isCut`. */
function makeCutRig({ reaches = true } = {}) {
  const line = { isCut: true, reaches, asked: [] as string[] };
  const rig = makeRig({
    options: { conflictWaitTimeoutMs: 5_000 },
    journal: (journal) =>
      withProtocol(journal, (protocol: JournalProtocol) => ({
        claim: async (request) => {
          line.asked.push(request.claimId);
          if (!line.isCut) return protocol.claim(request);
          if (!line.reaches) throw unsent;
          await protocol.claim(request);
          line.reaches = false;
          throw lost;
        },
        withdraw: async (request) => {
          if (line.isCut) throw unsent;
          return protocol.withdraw(request);
        },
      })),
  });
  return { ...rig, line };
}

describe("a claim whose answer is lost", () => {
  it("ACT-1, ACT-3: is asked for again by its claim id, and goes on when the journal is back", async () => {
    const { dispatcher, journal, calls, line, advance } = makeCutRig();
    const dispatching = dispatcher.dispatch(intentOf("a"));
    await advance(4_000);
    expect([calls.length, (await journal.find("a"))?.state]).toEqual([0, "dispatched"]);
    line.isCut = false;
    await advance(1_000);
    calls[0]?.commit("built");
    expect(await dispatching).toMatchObject({ disposition: "executed", receipt: { result: "built" } });
    expect([new Set(line.asked).size, calls.length, (await journal.find("a"))?.state]).toEqual([1, 1, "committed"]);
  });

  it("ACT-3: is given up when its time is over, and closed as not dispatched once the journal is back", async () => {
    const { dispatcher, journal, calls, line, advance } = makeCutRig();
    const dispatching = dispatcher.dispatch(intentOf("a"));
    dispatching.catch(() => undefined);
    await advance(6_000);
    await expect(dispatching).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    line.isCut = false;
    await advance(1_000);
    expect(await journal.find("a")).toMatchObject({ state: "failed", receipt: { code: "not_dispatched" } });
    expect(calls).toEqual([]);
  });

  it("ACT-6, CAN-1: is given up at once when its caller cancels", async () => {
    const { dispatcher, journal, calls, line, advance } = makeCutRig();
    const stop = trackedSignal();
    const dispatching = dispatcher.dispatch(intentOf("a"), { signal: stop.signal });
    dispatching.catch(() => undefined);
    await advance(1_000);
    stop.abort();
    await expect(dispatching).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    line.isCut = false;
    await advance(1_000);
    expect([calls.length, (await journal.find("a"))?.state]).toEqual([0, "failed"]);
  });

  it("ACT-11: that was never sent fails at once, and its operation id can be dispatched again", async () => {
    const { dispatcher, calls, line, advance } = makeCutRig({ reaches: false });
    await expect(dispatcher.dispatch(intentOf("a"))).rejects.toBe(unsent);
    line.isCut = false;
    const again = dispatcher.dispatch(intentOf("a"));
    await advance(0);
    calls[0]?.commit();
    expect((await again).disposition).toBe("executed");
  });
});
