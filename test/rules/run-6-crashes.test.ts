import fc from "fast-check";
import { assertOrder } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { findCrashFaults, findSaidFaults, isCertain } from "../support/crash-judge.ts";
import { crashPlans, RICH_RUN } from "../support/crash-plans.ts";
import { type CrashRun, playCrashes, resumeEnded } from "../support/crash-run.ts";
import { type CrashSession, playSessionCrashes } from "../support/crash-session.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

/** What a host sees of a run's end; figures are of each process. */
function endOf({ performance: _performance, ...rest }: CrashRun["final"]) {
  return rest;
}

/** Everything that holds of a run, whoever died in it and when. */
function checkRun(run: CrashRun): void {
  expect(findCrashFaults(run)).toEqual([]);
  expect(findSaidFaults(run)).toEqual([]);
  assertOrder(run.processes.flatMap(({ events }) => events));
  for (const messages of [run.final.messages, ...run.requests]) expect(findTranscriptFaults(messages)).toEqual([]);
}

describe("a process that dies", () => {
  it("RUN-6, RUN-5: at any step of a run leaves what the next can go on with, by the rules", {
    timeout: 120_000,
  }, async () => {
    const whole = await playCrashes(RICH_RUN);
    checkRun(whole);
    expect(endOf(whole.final)).toMatchObject({ status: "completed", endedBy: "noCalls", turns: 4, toolCalls: 13 });
    const appends = whole.processes[0]?.store.appends ?? 0;
    let certain = 0;
    for (let at = 0; at < appends; at++) {
      for (const when of ["before", "after"] as const) {
        const run = await playCrashes(RICH_RUN, [{ kind: "dies", at, when }]);
        expect([at, when, run.processes.length]).toEqual([at, when, 2]);
        checkRun(run);
        if (!isCertain(run)) continue;
        certain += 1;
        expect([at, when, endOf(run.final)]).toEqual([at, when, endOf(whole.final)]);
      }
    }
    expect(appends).toBeGreaterThan(20);
    expect(certain).toBeGreaterThan(appends);
    expect(certain).toBeLessThan(appends * 2);
  });

  it("RUN-6: like those after it, at any steps of any run: as if nobody had, where nothing was left unknown", {
    timeout: 300_000,
  }, async () => {
    const seen = { certain: 0, deaths: 0 };
    await fc.assert(
      fc.asyncProperty(crashPlans({ says: false }), async (plan) => {
        const run = await playCrashes(plan);
        checkRun(run);
        const end = JSON.parse(JSON.stringify(endOf(run.final)));
        expect(JSON.parse(JSON.stringify(endOf((await resumeEnded(run)) ?? run.final)))).toEqual(end);
        seen.deaths += run.processes.length - 1;
        if (run.processes.length === 1 || !isCertain(run)) return;
        seen.certain += 1;
        expect(endOf(run.final)).toEqual(endOf((await playCrashes(plan, [])).final));
      }),
      { numRuns: Number(process.env.RUNS ?? 250) },
    );
    expect(seen.deaths).toBeGreaterThan(100);
    expect(seen.certain).toBeGreaterThan(50);
  });

  it("RUN-3, RUN-6: loses nothing that was said to it and recorded", { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(crashPlans({ says: true }), async (plan) => checkRun(await playCrashes(plan))),
      { numRuns: Number(process.env.RUNS ?? 250) },
    );
  });
});

describe("a session's process that dies", () => {
  /** What a host had of each turn; times are of each process. */
  const told = ({ turns }: CrashSession) =>
    turns.map(({ messages, closed, closedBy, settled }) => ({
      messages,
      closed,
      closedBy,
      settled: settled.map(({ outcome, operationId, conflictKeys, epoch, repairs }) => [
        outcome,
        operationId,
        conflictKeys,
        epoch,
        repairs,
      ]),
    }));

  it("RUN-6: at any step, like those after it, leaves what the next can go on with, whose host tells it all again", {
    timeout: 300_000,
  }, async () => {
    const seen = { certain: 0, deaths: 0 };
    await fc.assert(
      fc.asyncProperty(crashPlans({ says: false }), async (plan) => {
        const run = await playSessionCrashes(plan);
        expect(findCrashFaults(run)).toEqual([]);
        seen.deaths += run.processes.length - 1;
        if (run.processes.length === 1 || !isCertain(run)) return;
        seen.certain += 1;
        expect(told(run)).toEqual(told(await playSessionCrashes(plan, [])));
      }),
      { numRuns: Number(process.env.RUNS ?? 250) },
    );
    expect(seen.deaths).toBeGreaterThan(100);
    expect(seen.certain).toBeGreaterThan(50);
  });
});
