import { GameActionDispatcher, GameActionReceipt, GameActionTool, type Journal, memoryJournal } from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { call, testSession } from "../support/run-calls.ts";

const INPUT = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } };
const WAIT_MS = 200;

/** One of several processes on one journal, whose handler ends when it is told to. */
function openProcess(journal: Journal, { clock }: Pick<ReturnType<typeof simulatedClock>, "clock">) {
  const ends: (() => void)[] = [];
  const dispatcher = new GameActionDispatcher({
    journal,
    clock,
    conflictWaitTimeoutMs: WAIT_MS,
    handler: {
      execute: (intent) =>
        new Promise((resolve) => ends.push(() => resolve(GameActionReceipt.committed(intent, { paid: true })))),
    },
  });
  const pay = GameActionTool.create({
    input: () => INPUT,
    name: "pay",
    description: "Pays.",
    inputSchema: { type: "object" },
    dispatcher,
    timeoutMs: 10_000,
  });
  return { ends, session: testSession({ tools: [pay], clock }) };
}

function twoProcesses() {
  const time = simulatedClock();
  const journal = memoryJournal({ clock: time.clock });
  return { ...time, one: openProcess(journal, time), two: openProcess(journal, time) };
}

const PAY = [call("pay", "{}", "p")];

describe("a call whose very operation is at work elsewhere", () => {
  it("UNC-1, ACT-3: is uncertain when its wait is over, and not said to have left nothing behind", async () => {
    const { one, two, advance } = twoProcesses();
    const first = one.session.execute(PAY);
    await advance(0);
    const second = two.session.execute(PAY);
    await advance(WAIT_MS);
    const [settled] = (await second.result).settled;
    expect([settled?.outcome, settled?.result.outcomeUncertain, two.ends.length]).toEqual(["uncertain", true, 0]);
    expect(settled?.result.details).toMatchObject({ status: "uncertain", code: "in_flight" });
    expect(JSON.stringify(settled?.result.content)).not.toMatch(/nothing (was|happened)/i);
    for (const end of one.ends) end();
    expect((await first.result).settled[0]?.outcome).toBe("succeeded");
  });

  it("CAN-1, UNC-1: is uncertain when it is cancelled while it waits", async () => {
    const { one, two, advance } = twoProcesses();
    const first = one.session.execute(PAY);
    await advance(0);
    const user = new AbortController();
    const second = two.session.execute(PAY, { signal: user.signal });
    await advance(0);
    user.abort(new Error("stop"));
    await advance(0);
    const [settled] = (await second.result).settled;
    expect([settled?.outcome, settled?.result.outcomeUncertain]).toEqual(["uncertain", true]);
    for (const end of one.ends) end();
    await first.result;
  });

  it("ACT-3: is replayed where the other has ended within the wait", async () => {
    const { one, two, advance } = twoProcesses();
    const first = one.session.execute(PAY);
    await advance(0);
    const second = two.session.execute(PAY);
    await advance(WAIT_MS - 1);
    for (const end of one.ends) end();
    await first.result;
    await advance(0);
    const [settled] = (await second.result).settled;
    expect([settled?.outcome, two.ends.length]).toEqual(["succeeded", 0]);
    expect(settled?.result.details).toMatchObject({ status: "committed", dispatch: "replayed" });
  });
});
