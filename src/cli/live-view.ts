/**
 * Owns what the lines of one conversation need to remember of earlier events: the keys of the calls of
 * the running turn, and which have ended. Shows only what the kernel's events say; decides nothing.
 */
import type { KernelEvent } from "toolkernel";
import { outcomeText, type Screen } from "./screen.ts";
import { callNumbers, plainWords, shortKey, shortTime } from "./wording.ts";

/** A listener for the events of a conversation's batches. */
export type EventListener = (event: KernelEvent) => void;

interface SeenCall {
  readonly label: string;
  readonly keys: readonly string[];
}

/** What of a turn's calls is known before the kernel says anything. */
export interface LiveViewOptions {
  /** Keys are shortened by this folder. */
  readonly workspace: string;
  /** The ids of the calls of a turn, first 1: a batch that is resumed does not tell them again (RUN-6). */
  callIdsOf(turn: number): readonly string[];
  /** Whether starts are recorded in a store; who has a slot waits for that too (RUN-6). */
  readonly isRecorded: boolean;
}

interface View extends Omit<LiveViewOptions, "callIdsOf"> {
  readonly screen: Screen;
  /** By call id; ids are unique within a response only, so a turn starts anew. */
  readonly calls: Map<string, SeenCall>;
  /** Calls by index whose refusal or blocking has been shown; their end says nothing new. */
  readonly explained: Set<number>;
}

/** Shows what happens in a batch as it happens, a line or so per event. */
export function createLiveView(screen: Screen, { callIdsOf, ...told }: LiveViewOptions): EventListener {
  const view: View = { screen, ...told, calls: new Map(), explained: new Set() };
  let turn: number | undefined;
  return (event) => {
    if (event.turn !== turn) {
      turn = event.turn;
      view.calls.clear();
      view.explained.clear();
      for (const [index, id] of callIdsOf(turn).entries()) view.calls.set(id, { label: `#${index}`, keys: [] });
    }
    for (const line of linesOf(event, view)) {
      screen.line(`  ${line}`);
    }
    remember(event, view);
  };
}

function remember(event: KernelEvent, view: View): void {
  if (event.kind === "toolPrepared") {
    view.calls.set(event.callId, { label: `#${event.callIndex}`, keys: event.conflictKeys });
  } else if (event.kind === "toolRefused" || event.kind === "toolBlocked") {
    view.explained.add(event.callIndex);
  }
}

function linesOf(event: KernelEvent, view: View): readonly string[] {
  const { paint } = view.screen;
  switch (event.kind) {
    case "toolRefused":
      return [`${nameOf(event)} ${paint.bad("refused")} (${event.failureCategory}): ${plainWords(event.reason)}`];
    case "toolRepeatDetected":
      return [`${nameOf(event)} ${paint.warn(`repeats itself, ${event.count} times`)}: ${event.action}`];
    case "epochStarted":
      return [paint.bold(`epoch ${event.epoch}: ${labels(event.callIds, view)}`), ...laneLines(event.callIds, view)];
    case "toolDispatched":
      return [`${nameOf(event)} starts${paint.dim(waitsOf(event, view))}`];
    case "toolProgressed":
      return [paint.dim(`${nameOf(event)} reports progress`)];
    case "toolBlocked":
      return [
        `${nameOf(event)} ${paint.warn("blocked")}: nobody knows what became of ${labels([event.blockedBy], view)}`,
      ];
    case "toolEnded":
      return view.explained.has(event.callIndex) ? [] : [endingLine(event, view)];
    case "toolLateSettled":
      return [paint.warn(`${nameOf(event)} came back late; its result stands as it was`)];
    default:
      return [];
  }
}

/** Which calls of an epoch wait for which key: all but the first of a lane, in source order (EPOCH-4). */
function laneLines(callIds: readonly string[], view: View): readonly string[] {
  const lanes = new Map<string, string[]>();
  for (const id of callIds) {
    for (const key of view.calls.get(id)?.keys ?? []) {
      lanes.set(key, [...(lanes.get(key) ?? []), id]);
    }
  }
  return [...lanes]
    .filter(([, ids]) => ids.length > 1)
    .map(([key, [first = "", ...others]]) => {
      const verb = others.length === 1 ? "waits" : "wait";
      const line = `${labels(others, view)} ${verb} for ${shortKey(key, view.workspace)}, taken by ${labels([first], view)}`;
      return view.screen.paint.dim(`  ${line}`);
    });
}

/** What a call waited for before it started; waits too short to show are left out. */
function waitsOf({ barrierMs, keyMs, queueMs }: KernelEvent<"toolDispatched">, { isRecorded }: View): string {
  const waits = [
    { ms: barrierMs, subject: "its epoch" },
    { ms: keyMs, subject: "its key" },
    { ms: queueMs, subject: isRecorded ? "a slot and its record" : "a slot" },
  ].filter(({ ms }) => ms >= 1);
  const words = waits.map(({ ms, subject }) => `${shortTime(ms)} for ${subject}`);
  return words.length === 0 ? "" : ` after ${words.join(", ")}`;
}

function endingLine(event: KernelEvent<"toolEnded">, view: View): string {
  const outcome = outcomeText(view.screen.paint, event.outcome, event.failureCategory);
  const time = event.durationMs === undefined ? "" : ` in ${shortTime(event.durationMs)}`;
  return `${nameOf(event)} ${outcome}${time}${reasonOf(event)}`;
}

const SHOWN_REASON_CHARACTERS = 160;

/** The first words of what a call that did not succeed was answered. */
function reasonOf({ outcome, result }: KernelEvent<"toolEnded">): string {
  if (outcome === "succeeded") {
    return "";
  }
  const [first] = result.content;
  const words = first?.type === "text" ? plainWords(first.text) : "";
  const cut = words.length > SHOWN_REASON_CHARACTERS ? `${words.slice(0, SHOWN_REASON_CHARACTERS)}…` : words;
  return cut === "" ? "" : `: ${cut}`;
}

function nameOf(event: { readonly callIndex: number; readonly toolName: string }): string {
  return `#${event.callIndex} ${plainWords(event.toolName)}`;
}

function labels(ids: readonly string[], view: View): string {
  return callNumbers(ids.map((id) => view.calls.get(id)?.label ?? id));
}
