import type { Outcome } from "toolkernel";
import type { CallStory } from "../story/call-story.ts";

/** How a call stands: how it ended, or how far it has come. */
export type Mark = Outcome | "running" | "waiting";

/** How a mark is shown beside its colour: a sign that every font has, and the words for it. */
export interface MarkSigns {
  readonly glyph: string;
  readonly words: string;
}

/** The signs of every mark. */
export const MARKS: Readonly<Record<Mark, MarkSigns>> = {
  succeeded: { glyph: "✓", words: "succeeded" },
  failed: { glyph: "✕", words: "failed" },
  uncertain: { glyph: "?", words: "uncertain" },
  blocked: { glyph: "‖", words: "blocked" },
  refused: { glyph: "⊘", words: "refused" },
  cancelled: { glyph: "–", words: "cancelled" },
  repeatTerminated: { glyph: "↻", words: "stopped as a repeat" },
  running: { glyph: "▸", words: "running" },
  waiting: { glyph: "…", words: "waiting" },
};

/** All marks, the good one first. */
export const MARK_NAMES = Object.keys(MARKS) as readonly Mark[]; // the table has every mark as a key

/** How a call stands. */
export function markOf({ outcome, dispatchedAtMs }: CallStory): Mark {
  return outcome ?? (dispatchedAtMs === undefined ? "waiting" : "running");
}

/** How many calls stand how, without those marks that no call has. */
export function countMarks(calls: readonly CallStory[]): readonly (readonly [mark: Mark, count: number])[] {
  const marks = calls.map(markOf);
  return MARK_NAMES.map((mark) => [mark, marks.filter((each) => each === mark).length] as const).filter(
    ([, count]) => count > 0,
  );
}
