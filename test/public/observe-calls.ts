import {
  audienceFilter,
  createToolSession,
  formatSummary,
  type KernelEvent,
  readJsonLines,
  recordJsonLines,
  summarize,
  systemClock,
} from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { type PublicCall, publicCall } from "./public-call.ts";

async function recordedLines(): Promise<string> {
  const lines: string[] = [];
  const session = createToolSession({
    tools: [],
    runId: "r",
    telemetry: recordJsonLines((line) => lines.push(line)),
    clock: simulatedClock().clock,
  });
  await session.execute([{ name: "no" }]).result;
  await session.close();
  return lines.join("");
}

/** A recording with a few events, and those events. */
export const LINES = await recordedLines();
export const EVENTS = readJsonLines(LINES);

/** The same value, of which nothing is shared. */
export function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function event(): KernelEvent {
  return {
    kind: "toolBlocked",
    seq: 1,
    timeMs: 1,
    runId: "r",
    turn: 1,
    audience: "internal",
    callId: "a",
    callIndex: 0,
    toolName: "take",
    operationId: "o",
    blockedBy: "b",
  } as KernelEvent;
}

function summary(): object {
  return JSON.parse(JSON.stringify(summarize([]))) as object;
}

/** What sessions and runs tell, and the clock. */
export const OBSERVE_CALLS: Readonly<Record<string, readonly PublicCall[]>> = {
  audienceFilter: [
    publicCall("audienceFilter", (): ["owner"] => ["owner"], { of: audienceFilter }),
    publicCall("audienceFilter()", (): [KernelEvent] => [event()], { of: (given) => audienceFilter("owner")(given) }),
  ],
  formatSummary: [
    publicCall("formatSummary", (): [object] => [summary()], { of: (given) => formatSummary(given as never) }),
  ],
  summarize: [
    publicCall(
      "summarize",
      (): [readonly (readonly unknown[])[]] => [[JSON.parse(JSON.stringify(EVENTS)) as unknown[]]],
      {
        of: (runs) => summarize(runs as never),
      },
    ),
  ],
  readJsonLines: [
    publicCall("readJsonLines", (): [string] => [LINES], { of: readJsonLines }),
    publicCall("readJsonLines of lines", (): [readonly string[]] => [LINES.split("\n").slice(0, 2)], {
      of: readJsonLines,
    }),
  ],
  recordJsonLines: [
    publicCall("recordJsonLines", (): [() => void, object] => [() => undefined, { conflictKeys: true }], {
      of: recordJsonLines,
      closed: ["1"],
    }),
  ],
  systemClock: [
    publicCall("systemClock.setTimer", (): [number, () => void] => [0, () => undefined], {
      of: (atMs, run) => systemClock.setTimer(atMs, run),
      use: (takeBack) => takeBack(),
    }),
  ],
};
