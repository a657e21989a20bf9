/**
 * What is known of one call, beside the timeline.
 * Owns: the panel, and where the focus was before it opened. Everything in it is set as text.
 */
import type { CallContent, CallStory } from "../story/call-story.ts";
import { callTitle } from "../timeline/bars.ts";
import { callFacts } from "../timeline/call-words.ts";
import { MARKS, markOf } from "../timeline/marks.ts";
import { build } from "./elements.ts";

/** See the file header. */
export class CallPanel {
  readonly #panel: HTMLElement;
  readonly #onClose: () => void;

  /** `onClose` is told when the panel has closed, so that the focus can go back. */
  constructor(panel: HTMLElement, onClose: () => void) {
    this.#panel = panel;
    this.#onClose = onClose;
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  /** Shows a call. */
  show(call: CallStory): void {
    const mark = markOf(call);
    const close = build("button", { type: "button", class: "close", "aria-label": "close" }, "×");
    close.addEventListener("click", () => this.close());
    const sign = build("span", { class: `sign sign-${mark}`, "aria-hidden": "true" }, MARKS[mark].glyph);
    const facts = callFacts(call).flatMap(({ name, value }) => [build("dt", {}, name), build("dd", {}, value)]);
    this.#panel.replaceChildren(
      build("div", { class: "panel-head" }, build("h2", {}, sign, callTitle(call)), close),
      build("dl", { class: "facts" }, ...facts),
      ...contentOf("arguments", call.arguments),
      ...contentOf("result", call.result),
      ...(call.arguments === undefined && call.result === undefined ? [NOTHING_RECORDED()] : []),
    );
    this.#panel.hidden = false;
  }

  close(): void {
    if (this.#panel.hidden) return;
    this.#panel.hidden = true;
    this.#onClose();
  }
}

const NOTHING_RECORDED = (): HTMLElement =>
  build("p", { class: "note" }, "Arguments and results are recorded only where the host asks for it.");

function contentOf(name: string, content: CallContent | undefined): readonly HTMLElement[] {
  if (content === undefined) return [];
  const { text, isCut } = content;
  const shown = isCut ? `${text}\n… cut` : indented(text);
  return [build("h3", {}, name), build("pre", { tabindex: "0" }, shown)];
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
