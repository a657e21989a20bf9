import {
  type ChartEdge,
  type ChartState,
  type ChartTransition,
  guardText,
} from "../../src/inspect/charts/chart-model.ts";
import { wrapWords } from "../../src/inspect/charts/wrap-words.ts";
import { type TextStyle, textWidth } from "../../src/inspect/text-width.ts";

/** A run of words in one style; `kind` names its class in the drawing. */
export interface Span {
  readonly kind: "title" | "words" | "event" | "guard" | "action" | "keyword" | "tag";
  readonly text: string;
}

/** One line of text. `height` is its share of the box. */
export interface TextLine {
  readonly spans: readonly Span[];
  readonly width: number;
  readonly height: number;
}

/** What stands in a box, and how large that makes it. */
export interface TextBox {
  readonly lines: readonly TextLine[];
  readonly width: number;
  readonly height: number;
}

/** How each kind of text is set. */
export const STYLES: Readonly<Record<Span["kind"], TextStyle>> = {
  title: { size: 14, bold: true },
  words: { size: 10.5 },
  event: { size: 10.5, bold: true },
  guard: { size: 10.5 },
  action: { size: 10.5 },
  keyword: { size: 10.5 },
  tag: { size: 9.5, bold: true },
};

/** Space between the frame of a box and its text. */
export const PADDING = { x: 12, y: 9 } as const;

const WORDS_CHARACTERS = { atomic: 36, final: 32, compound: 40 } as const;
const TITLE_HEIGHT = 18;
const LINE_HEIGHT = 14;
const TAG_HEIGHT = 19;
const ACTION_CHARACTERS = 36;

/** The box of a state: title, description, entry and exit actions, transitions that stay in it, tags. */
export function stateBox(state: ChartState): TextBox {
  const { entry, exit, internal, tags, description = "" } = state;
  const lines = [
    line(TITLE_HEIGHT, { kind: "title", text: state.key }),
    ...wrapWords(description, WORDS_CHARACTERS[state.kind]).map((text) => line(LINE_HEIGHT, { kind: "words", text })),
    ...entry.map((action) => keywordLine("entry", action)),
    ...exit.map((action) => keywordLine("exit", action)),
    ...internal.flatMap(transitionLines),
    ...(tags.length === 0 ? [] : [line(TAG_HEIGHT, ...tags.map((text) => ({ kind: "tag", text }) as const))]),
  ];
  return boxOf(lines, PADDING);
}

/** The label of an edge: each of its transitions, its actions on a line of their own. */
export function edgeBox({ transitions }: ChartEdge): TextBox {
  return boxOf(transitions.flatMap(transitionLines), { x: 5, y: 3 });
}

function transitionLines(transition: ChartTransition): readonly TextLine[] {
  const guard = guardText(transition);
  const event: Span = { kind: "event", text: transition.event };
  const first = guard === "" ? [event] : [event, { kind: "guard", text: guard } as const];
  const actions = wrapWords(transition.actions.join(", "), ACTION_CHARACTERS);
  return [
    line(LINE_HEIGHT, ...first),
    ...actions.map((text, index) => line(LINE_HEIGHT, { kind: "action", text: `${index === 0 ? "/ " : "  "}${text}` })),
  ];
}

function keywordLine(keyword: "entry" | "exit", action: string): TextLine {
  return line(LINE_HEIGHT, { kind: "keyword", text: keyword }, { kind: "action", text: `/ ${action}` });
}

const TAG_MARGIN = 14;
const SPACE = 4;

function line(height: number, ...spans: readonly Span[]): TextLine {
  const between = spans.some(({ kind }) => kind === "tag") ? TAG_MARGIN : SPACE;
  const widths = spans.map(({ kind, text }) => textWidth(text, STYLES[kind]));
  return { spans, height, width: widths.reduce((sum, width) => sum + width + between, -between) };
}

function boxOf(lines: readonly TextLine[], padding: { readonly x: number; readonly y: number }): TextBox {
  return {
    lines,
    width: Math.ceil(Math.max(0, ...lines.map(({ width }) => width)) + 2 * padding.x),
    height: Math.ceil(lines.reduce((sum, { height }) => sum + height, 0) + 2 * padding.y),
  };
}
