import type { JsonObject, RecordedEvent } from "toolkernel";

/** An event of a run, as `readJsonLines` reads it. */
export interface EventEntry {
  readonly type: "event";
  readonly event: RecordedEvent;
}

/** A chart began to run. */
export interface ActorEntry {
  readonly type: "actor";
  readonly timeMs: number;
  readonly runId: string;
  /** Names it among the actors of its recorder, first 0. */
  readonly actor: number;
  /** The kernel's name for it, such as `call:1:3`: turn and call index. */
  readonly id: string;
  /** The id of its chart, such as `toolCall`. */
  readonly chart: string;
}

/** A chart has taken an event; also one that changed nothing. */
export interface TransitionEntry {
  readonly type: "transition";
  readonly timeMs: number;
  readonly runId: string;
  readonly actor: number;
  readonly event: string;
  /** Where the chart is now, its states joined by dots, such as `preparing.lookup`. */
  readonly state: string;
  /** Whether the chart has come to its end. */
  readonly isDone: boolean;
  /** What the chart remembers, as far as it is a number, a flag or a short text. */
  readonly facts: JsonObject;
}

/** What a call was given, or came to; only where the host asked for it. */
export interface ContentEntry {
  readonly type: "content";
  readonly timeMs: number;
  readonly runId: string;
  readonly turn: number;
  readonly callIndex: number;
  readonly part: "arguments" | "result";
  /** JSON text, cut after {@link MOST_CONTENT_CHARACTERS}. */
  readonly text: string;
  readonly isCut: boolean;
}

/** One line of a recording. */
export type RecordingEntry = EventEntry | ActorEntry | TransitionEntry | ContentEntry;

/** The longest text a content entry holds, in UTF-16 units. */
export const MOST_CONTENT_CHARACTERS = 20_000;

/** The version of the records that stand beside the kernel's own in a recording. */
export const INSPECTION_VERSION = 1;

/** The names of those records. */
export const RECORD_NAMES = {
  start: "inspect.recording",
  actor: "inspect.actor",
  transition: "inspect.transition",
  content: "inspect.content",
} as const;
