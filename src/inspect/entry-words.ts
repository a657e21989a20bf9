import type { RecordedEvent } from "toolkernel";
import type { RecordingEntry } from "./recording/entry.ts";
import { countOf, shortTime } from "./wording.ts";

/** One line of a log. */
export interface EntryWords {
  /** What it is about: `1` a response, `1.3` a call of it, `1 e0` an epoch of it; empty for the run. */
  readonly scope: string;
  /** What happened, in one word: the event's name, or the chart's event. */
  readonly what: string;
  readonly text: string;
}

/** What an entry says, in words; `actorIds` are the kernel's names of the actors by their numbers. */
export function entryWords(entry: RecordingEntry, actorIds: ReadonlyMap<number, string>): EntryWords {
  switch (entry.type) {
    case "event":
      return { scope: scopeOf(entry.event), what: entry.event.kind, text: eventText(entry.event) };
    case "actor":
      return { scope: scopeOfActor(entry.id), what: "chart", text: `${entry.chart} begins` };
    case "transition": {
      const scope = scopeOfActor(actorIds.get(entry.actor) ?? "");
      return { scope, what: entry.event, text: `→ ${entry.state}` };
    }
    case "content":
      return { scope: `${entry.turn}.${entry.callIndex}`, what: entry.part, text: "recorded" };
  }
}

/** What a recorded event says beside its name. */
export function eventText(event: RecordedEvent): string {
  const name = "toolName" in event ? `#${event.callIndex} ${event.toolName}` : "";
  return [name, ...detailsOf(event)].filter((part) => part !== "").join(" ");
}

function scopeOf(event: RecordedEvent): string {
  if ("callIndex" in event) return `${event.turn}.${event.callIndex}`;
  if (event.kind === "epochStarted" || event.kind === "epochSettled") return `${event.turn} e${event.epoch}`;
  return event.turn === 0 ? "" : String(event.turn);
}

/** `call:1:3` is call 3 of response 1, `action:1:3` the durable action that it is, `epoch:1:0` its first epoch, `batch:1` the response. */
function scopeOfActor(id: string): string {
  const [kind, turn, place] = id.split(":");
  if (kind === "call" || kind === "action") return `${turn}.${place}`;
  if (kind === "epoch") return `${turn} e${place}`;
  return kind === "batch" ? String(turn) : "";
}

function detailsOf(event: RecordedEvent): readonly string[] {
  switch (event.kind) {
    case "toolPrepared":
      return event.lanes === undefined || event.lanes.length === 0 ? [] : [`lane ${event.lanes.join(", ")}`];
    case "toolRefused":
      return [`refused (${event.failureCategory})`];
    case "approvalRequested":
      return ["waits for a person"];
    case "toolRepeatDetected":
      return [`repeats itself, ${event.count} times: ${event.action}`];
    case "epochStarted":
      return [`epoch ${event.epoch}, ${countOf(event.callIds.length, "call")}`];
    case "epochSettled":
      return [`epoch ${event.epoch}`];
    case "toolDispatched":
      return [waitText(event)];
    case "toolBlocked":
      return [`held back by ${event.blockedBy}`];
    case "toolEnded":
      return [endText(event)];
    case "toolLateSettled":
      return [event.returned ? "came back late" : "threw late"];
    case "toolUncertaintyResolved":
      return [event.status];
    default:
      return runDetailsOf(event);
  }
}

function runDetailsOf(event: RecordedEvent): readonly string[] {
  switch (event.kind) {
    case "messageUpdated":
      return [event.delta.type];
    case "messageEnded":
      return [event.message.role];
    case "messageQueued":
      return [event.queue];
    case "turnEnded":
      return [countOf(event.toolCalls, "call")];
    case "runFaulted":
      return [event.code];
    case "runEnded":
      return [event.endedBy === undefined ? event.status : `${event.status} (${event.endedBy})`];
    default:
      return [];
  }
}

function waitText({ barrierMs, keyMs, queueMs }: RecordedEvent<"toolDispatched">): string {
  const waits = [
    [barrierMs, "its epoch"],
    [keyMs, "its keys"],
    [queueMs, "a slot"],
  ] as const;
  const words = waits.filter(([ms]) => ms >= 1).map(([ms, what]) => `${shortTime(ms)} for ${what}`);
  return words.length === 0 ? "" : `after ${words.join(", ")}`;
}

function endText({ outcome, failureCategory, durationMs, action }: RecordedEvent<"toolEnded">): string {
  const why = failureCategory === undefined ? "" : ` (${failureCategory})`;
  const time = durationMs === undefined ? "" : ` in ${shortTime(durationMs)}`;
  const receipt = action === undefined ? "" : `, receipt ${action.status ?? "none"}, ${action.disposition}`;
  return `${outcome}${why}${time}${receipt}`;
}
