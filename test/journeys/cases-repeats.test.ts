import type { GivenCall } from "toolkernel";
import { describe, expect, it } from "vitest";
import { caseTools } from "../support/case-tools.ts";
import { call, eventsOf, finish, outcomesOf, type Played, testSession } from "../support/run-calls.ts";

const READ_A = '{"path":"a"}';

/** Plays responses one after another, until a batch closes the loop. */
async function loop(turns: readonly (readonly GivenCall[])[], answer?: (name: string, count: number) => unknown) {
  const { tools, done } = caseTools(answer);
  const session = testSession({ tools });
  const played: Played[] = [];
  for (const calls of turns) {
    const turn = await finish(session.execute(calls));
    played.push(turn);
    if (turn.result.closed) break;
  }
  return { session, played, done };
}

/** Where advice and end came: `turn: action count`. */
const detected = (played: readonly Played[]): string[] =>
  played.flatMap(({ events }, turn) =>
    eventsOf(events, "toolRepeatDetected").map(({ action, count }) => `${turn + 1}: ${action} ${count}`),
  );

const policies = (played: readonly Played[]): number =>
  played.flatMap(({ result }) => result.messages.filter(({ role }) => role === "policy")).length;

const turnsOf = (count: number, ...calls: readonly GivenCall[]): GivenCall[][] =>
  Array.from({ length: count }, () => [...calls]);

describe("repeats", () => {
  it("C18: a repeat too many leaves no orphan: its own error, its siblings' results, and no further request", async () => {
    const turns = [
      ...turnsOf(6, call("read", READ_A)),
      [call("read", READ_A, "7th"), call("read", READ_A, "8th"), call("read", '{"path":"b"}', "b")],
    ];
    const { played, done } = await loop(turns);
    const last = played.at(-1)?.result;
    expect(last === undefined ? [] : outcomesOf(last)).toEqual(["succeeded", "repeatTerminated", "succeeded"]);
    expect(last?.messages.map((message) => "callId" in message && message.callId)).toEqual(["7th", "8th", "b"]);
    expect([last?.closed, last?.closedBy]).toEqual([true, "exactToolRepeat"]);
    expect(done).toEqual([...Array(7).fill("read a"), "read b"]);
  });

  it("C61: one call for twenty turns: advice at 3, the end at 8, and call 8 is not run", async () => {
    const { played, done } = await loop(turnsOf(20, call("read", READ_A)));
    expect(detected(played)).toEqual(["3: advisory 3", "8: terminated 8"]);
    expect([played.length, done.length, policies(played)]).toEqual([8, 7, 1]);
    expect(played.at(-1)?.result.settled[0]?.outcome).toBe("repeatTerminated");
  });

  it("C63: another result each time hides no loop", async () => {
    const { played } = await loop(turnsOf(20, call("read", READ_A)), (_name, count) => `at ${count}`);
    expect(detected(played)).toEqual(["3: advisory 3", "8: terminated 8"]);
  });

  it("C64: the sequence spans the turns of a run", async () => {
    const { played } = await loop(turnsOf(8, call("read", READ_A)));
    expect(detected(played)).toEqual(["3: advisory 3", "8: terminated 8"]);
  });

  it("C66: an exempt call between tracked ones neither advances nor resets", async () => {
    const { played, done } = await loop(turnsOf(3, call("read", READ_A), call("poll", '{"job":"j"}')));
    expect(detected(played)).toEqual(["3: advisory 3"]);
    expect(done.filter((line) => line === "poll j")).toHaveLength(3);
  });

  it("C67: a free-text field that varies makes it another call: the match is exact", async () => {
    const tries = Array.from({ length: 10 }, (_, index) => [
      call("shell", `{"command":"ls","description":"try ${index}"}`),
    ]);
    const { played, done } = await loop(tries);
    expect([detected(played), done.length]).toEqual([[], 10]);
  });

  it.each([
    [3, ["1: advisory 3"], 3],
    [8, ["1: advisory 3", "1: terminated 8"], 7],
  ])("C69: %i equal calls in one response: their place in it decides, not time", async (count, expected, runs) => {
    const calls = Array.from({ length: count }, (_, index) => call("read", READ_A, `c${index}`));
    const { played, done } = await loop([calls]);
    expect([detected(played), done.length, policies(played)]).toEqual([expected, runs, 1]);
  });

  it("C70: steering resets: two and two are no three", async () => {
    const { session, played } = await loop(turnsOf(2, call("read", READ_A)));
    session.noteNewEvidence();
    for (let turn = 0; turn < 2; turn += 1) played.push(await finish(session.execute([call("read", READ_A)])));
    expect(detected(played)).toEqual([]);
  });
});
