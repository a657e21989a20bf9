/**
 * The chart of the selected actor, its active state marked.
 * Owns: the drawing in its element, its scale. Does not own: what is selected. The drawings came with the
 * page; nothing but classes is changed in them.
 */
import type { ActorStory } from "../story/run-story.ts";
import { build } from "./elements.ts";

/** What is shown. */
export interface ShownChart {
  /** The name of the drawing. */
  readonly drawing: string;
  /** The id of the chart, which the ids of its states begin with. */
  readonly chart: string;
  /** Absent before the chart has taken its first event. */
  readonly state?: string;
  readonly from?: string;
  readonly event?: string;
}

/** The drawing of each chart, by the chart's id. */
const DRAWING_OF: Readonly<Record<string, string>> = {
  run: "run",
  batch: "batch",
  epoch: "epoch",
  toolCall: "tool-call",
  action: "action",
};

/** What a chart's actor shows. */
export function shownOf({ chart, last, from }: ActorStory): ShownChart {
  return {
    chart,
    drawing: DRAWING_OF[chart] ?? "",
    ...(last !== undefined && { state: last.state, event: last.event }),
    ...(from !== undefined && { from }),
  };
}

const READABLE_SCALE = 0.92;

/** See the file header. */
export class ChartView {
  readonly #element: HTMLElement;
  #drawing = "";
  #isWhole = false;
  #marked = "";

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** Whether the whole width of the drawing is in view, or it is large enough to be read. */
  set isWhole(isWhole: boolean) {
    this.#isWhole = isWhole;
    this.#scale();
    this.#bringIntoView();
  }

  /** Shows a chart; `undefined` shows the words in its place. */
  draw(shown: ShownChart | undefined, words: string): void {
    if (shown === undefined || !this.#place(shown.drawing)) {
      this.#drawing = "";
      this.#element.replaceChildren(build("p", { class: "nothing" }, words));
      return;
    }
    const { chart, state } = shown;
    this.#markStates(chart, state);
    this.#markEdges(shown);
    const key = `${shown.drawing} ${state}`;
    if (key !== this.#marked) this.#bringIntoView();
    this.#marked = key;
  }

  #place(drawing: string): boolean {
    if (drawing === this.#drawing) return true;
    const template = document.getElementById(`drawing-${drawing}`);
    if (!(template instanceof HTMLTemplateElement)) return false;
    this.#element.replaceChildren(template.content.cloneNode(true));
    this.#drawing = drawing;
    this.#scale();
    return true;
  }

  #scale(): void {
    const drawing = this.#element.querySelector("svg");
    if (drawing === null) return;
    drawing.classList.toggle("is-whole", this.#isWhole);
    drawing.style.width = this.#isWhole ? "" : `${drawing.viewBox.baseVal.width * READABLE_SCALE}px`;
  }

  #markStates(chart: string, state: string | undefined): void {
    const active = state === undefined ? undefined : `${chart}.${state}`;
    for (const element of this.#element.querySelectorAll<SVGGElement>("[data-state]")) {
      const id = element.dataset.state ?? "";
      element.classList.toggle("is-active", id === active);
      element.classList.toggle("is-within", active?.startsWith(`${id}.`) === true);
      if (id === active) element.setAttribute("aria-current", "true");
      else element.removeAttribute("aria-current");
    }
  }

  /** The way that was taken last: from the state before, or from one that it lies in. */
  #markEdges({ chart, state, from, event }: ShownChart): void {
    const target = `${chart}.${state}`;
    const source = from === undefined ? undefined : `${chart}.${from}`;
    for (const edge of this.#element.querySelectorAll<SVGGElement>("[data-from]")) {
      const { from: edgeFrom = "", to = "", events = "" } = edge.dataset;
      const leavesIt = source !== undefined && (source === edgeFrom || source.startsWith(`${edgeFrom}.`));
      const reachesIt = target === to || target.startsWith(`${to}.`);
      const isTaken = leavesIt && reachesIt && events.split(" ").includes(event ?? "");
      edge.classList.toggle("is-taken", isTaken);
    }
  }

  #bringIntoView(): void {
    const active = this.#element.querySelector(".is-active");
    if (active === null) return;
    const place = active.getBoundingClientRect();
    const frame = this.#element.getBoundingClientRect();
    const isAbove = place.top < frame.top + 40;
    const isBelow = place.bottom > frame.bottom - 40;
    const isBeside = place.left < frame.left || place.right > frame.right;
    if (isAbove || isBelow) this.#element.scrollTop += place.top - frame.top - frame.height / 2 + place.height / 2;
    if (isBeside) this.#element.scrollLeft += place.left - frame.left - frame.width / 2 + place.width / 2;
  }
}
