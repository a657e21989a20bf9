import type { CallStory } from "../story/call-story.ts";
import { countOf, shortTime } from "../wording.ts";
import { callTitle } from "./bars.ts";
import { MARKS, markOf } from "./marks.ts";

/** One thing that is known of a call: what it is, and what it says. */
export interface CallFact {
  readonly name: string;
  readonly value: string;
}

/** A call in one sentence, for those who hear the timeline and for tooltips. */
export function callSentence(call: CallStory): string {
  const { lanes, epoch, waits, durationMs, failureCategory, blockedBy } = call;
  const waited = waits === undefined ? [] : waitWords(waits);
  return [
    callTitle(call),
    ...(lanes.length === 0 ? [] : [`lane ${lanes.join(", ")}`]),
    ...(epoch === undefined ? [] : [`epoch ${epoch}`]),
    ...waited,
    ...(durationMs === undefined ? [] : [`ran ${shortTime(durationMs)}`]),
    MARKS[markOf(call)].words + (failureCategory === undefined ? "" : ` (${failureCategory})`),
    ...(blockedBy === undefined ? [] : [`held back by ${blockedBy}`]),
  ].join(", ");
}

/** Everything that is known of a call, in the order in which it came to be known. */
export function callFacts(call: CallStory): readonly CallFact[] {
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ["call id", call.callId],
    ["response", `${call.turn}, call ${call.callIndex}`],
    ["kind", call.isWrite === undefined ? undefined : call.isWrite ? "write" : "read"],
    ["lanes", call.lanes.length === 0 ? "none" : call.lanes.join(", ")],
    ["conflict keys", call.conflictKeys?.join(", ")],
    ["epoch", call.epoch === undefined ? undefined : String(call.epoch)],
    [
      "asked a person",
      call.approvalAskedAtMs === undefined ? undefined : `after ${since(call, call.approvalAskedAtMs)}`,
    ],
    ["waited for its epoch", timeOf(call.waits?.barrierMs)],
    ["waited for its keys", timeOf(call.waits?.keyMs)],
    ["waited for a slot", timeOf(call.waits?.queueMs)],
    ["ran", timeOf(call.durationMs)],
    ["progress", call.progressReports === 0 ? undefined : countOf(call.progressReports, "report")],
    ["outcome", MARKS[markOf(call)].words],
    ["failure category", call.failureCategory],
    ["held back by", call.blockedBy],
    ["exact repeats", call.repeats === undefined ? undefined : `${call.repeats.count}, ${call.repeats.action}`],
    ["executor came back late", call.lateAtMs === undefined ? undefined : `after ${since(call, call.lateAtMs)}`],
    ["resolved as", call.resolvedAs],
    ...actionFacts(call),
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

function actionFacts({ action }: CallStory): readonly (readonly [name: string, value: string | undefined])[] {
  if (action === undefined) return [];
  return [
    ["receipt", action.status ?? "none"],
    ["disposition", action.disposition],
    ["second execution prevented", action.duplicateExecutionPrevented ? "yes" : undefined],
    ["recovered", action.recovered ? "yes" : undefined],
    ["in the host's handler", timeOf(action.hostMs)],
    ["in the framework", timeOf(action.frameworkMs)],
  ];
}

function waitWords({ barrierMs, keyMs, queueMs }: NonNullable<CallStory["waits"]>): readonly string[] {
  const words = [
    [barrierMs, "its epoch"],
    [keyMs, "its keys"],
    [queueMs, "a slot"],
  ] as const;
  return words.filter(([ms]) => ms >= 1).map(([ms, what]) => `waited ${shortTime(ms)} for ${what}`);
}

function timeOf(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : shortTime(milliseconds);
}

function since({ startedAtMs }: CallStory, timeMs: number): string {
  return shortTime(timeMs - startedAtMs);
}
