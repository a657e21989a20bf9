/**
 * The timeline of one run on a page.
 * Owns: the drawing in its element, its zoom, which call has the focus, which calls match the search. Draws
 * by the same functions as the report on disk, so both look alike.
 */
import type { CallStory } from "../story/call-story.ts";
import type { TimelineRun } from "../story/run-story.ts";
import { callKey, NAMES_WIDTH } from "../timeline/draw-run.ts";
import { ROOMY_CALLS } from "../timeline/lay-out-run.ts";
import { MARKS, markOf } from "../timeline/marks.ts";
import { callsOf, timelineGrid } from "../timeline/run-view.ts";
import { fill } from "./elements.ts";

/** How a timeline is shown. */
export interface TimelineSettings {
  readonly zoom: number;
  readonly showWaiting: boolean | undefined;
  readonly search: string;
  /** The call that is marked, by its key; absent: the one that was opened last. */
  readonly marked?: string | undefined;
}

const ZOOM_STEP = 1.5;
const LARGEST_ZOOM = 60;

/** The zoom a step nearer or farther. */
export function nextZoom(zoom: number, direction: "nearer" | "farther"): number {
  const next = direction === "nearer" ? zoom * ZOOM_STEP : zoom / ZOOM_STEP;
  return Math.min(LARGEST_ZOOM, Math.max(1, next));
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** See the file header. */
export class TimelineView {
  readonly #scroller: HTMLElement;
  readonly #onOpen: (call: CallStory) => void;
  #run: TimelineRun | undefined;
  #calls: readonly CallStory[] = [];
  #matching: ReadonlySet<string> = new Set();
  #focused: string | undefined;
  #marked: string | undefined;
  #zoom = 1;

  /** `onOpen` is told of the call that a person wants to know more of. */
  constructor(scroller: HTMLElement, onOpen: (call: CallStory) => void) {
    this.#scroller = scroller;
    this.#onOpen = onOpen;
    scroller.addEventListener("click", (event) => this.#open(keyOf(event.target)));
    scroller.addEventListener("keydown", (event) => this.#press(event));
    scroller.addEventListener("focusin", (event) => this.#note(keyOf(event.target)));
  }

  /** Draws a run, and returns how many of its calls match the search. A new zoom keeps the middle where it is. */
  draw(run: TimelineRun, { zoom, showWaiting, search, marked }: TimelineSettings): number {
    this.#run = run;
    this.#calls = callsOf(run);
    const scroller = this.#scroller;
    const width = Math.max(320, scroller.clientWidth - NAMES_WIDTH - 4);
    const hadFocus = scroller.contains(document.activeElement);
    const half = (scroller.clientWidth - NAMES_WIDTH) / 2;
    const middle = (scroller.scrollLeft + half) / (scroller.scrollWidth - NAMES_WIDTH);
    fill(scroller, timelineGrid(run, { width, zoom, showWaiting }));
    if (zoom !== this.#zoom) scroller.scrollLeft = middle * (scroller.scrollWidth - NAMES_WIDTH) - half;
    this.#zoom = zoom;
    this.#makeReachable();
    const isNewlyMarked = marked !== undefined && marked !== this.#marked;
    this.#mark(marked ?? this.#marked);
    if (isNewlyMarked) this.#barOf(marked)?.scrollIntoView({ block: "nearest", inline: "center" });
    if (hadFocus) this.focusCall();
    return this.find(search);
  }

  /** Dims what does not match; returns how many match. */
  find(search: string): number {
    const wanted = search.trim().toLowerCase();
    this.#matching = new Set(this.#calls.filter((call) => matches(call, wanted)).map(callKey));
    for (const bar of this.#bars()) bar.classList.toggle("tl-dim", !this.#matching.has(bar.dataset.call ?? ""));
    return this.#matching.size;
  }

  /** Brings the first call that matches the search into view, and with `takesFocus` puts the focus on it; returns whether there is one. */
  showFirstMatch({ takesFocus }: { readonly takesFocus: boolean }): boolean {
    const first = this.#calls.map(callKey).find((key) => this.#matching.has(key));
    const bar = this.#barOf(first);
    if (bar === undefined) return false;
    bar.scrollIntoView({ block: "nearest", inline: "center" });
    if (!takesFocus) return true;
    this.#note(bar.dataset.call);
    bar.focus({ preventScroll: true });
    return true;
  }

  /** Puts the focus on the call that had it last. */
  focusCall(): void {
    this.#barOf(this.#focused)?.focus();
  }

  /** Whether the waiting parts are shown when nobody has chosen. */
  get showsWaitingByDefault(): boolean {
    return this.#run !== undefined && this.#calls.length <= ROOMY_CALLS;
  }

  #bars(): readonly SVGGElement[] {
    return [...this.#scroller.querySelectorAll<SVGGElement>("[data-call]")];
  }

  #barOf(key: string | undefined): SVGGElement | undefined {
    return this.#bars().find(({ dataset }) => dataset.call === key);
  }

  /** One bar can be reached by the tab key; from there arrow keys lead to the others. */
  #makeReachable(): void {
    const bars = this.#bars();
    const current = bars.find(({ dataset }) => dataset.call === this.#focused) ?? bars[0];
    current?.setAttribute("tabindex", "0");
    this.#focused = current?.dataset.call;
  }

  #note(key: string | undefined): void {
    if (key === undefined || key === this.#focused) return;
    for (const bar of this.#bars()) bar.setAttribute("tabindex", bar.dataset.call === key ? "0" : "-1");
    this.#focused = key;
  }

  #press(event: KeyboardEvent): void {
    const key = keyOf(event.target);
    if (key === undefined) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#open(key);
      return;
    }
    const next = this.#callAfter(event.key, key);
    if (next === undefined) return;
    event.preventDefault();
    this.#note(callKey(next));
    this.focusCall();
  }

  /** The call that a key leads to, past those that do not match the search. */
  #callAfter(pressed: string, key: string): CallStory | undefined {
    const isShown = (call: CallStory): boolean => this.#matching.has(callKey(call));
    const place = this.#calls.findIndex((call) => callKey(call) === key);
    if (pressed === "Home") return this.#calls.find(isShown);
    if (pressed === "End") return this.#calls.findLast(isShown);
    const step = STEPS[pressed];
    if (step === undefined) return undefined;
    if (step > 0) return this.#calls.slice(place + 1).find(isShown);
    return this.#calls.slice(0, Math.max(0, place)).findLast(isShown);
  }

  #mark(key: string | undefined): void {
    this.#marked = key;
    for (const bar of this.#bars()) bar.classList.toggle("tl-open", bar.dataset.call === key);
  }

  #open(key: string | undefined): void {
    const call = this.#calls.find((each) => callKey(each) === key);
    if (call === undefined) return;
    this.#note(key);
    this.#mark(key);
    this.#onOpen(call);
  }
}

function keyOf(target: EventTarget | null): string | undefined {
  const bar = target instanceof Element ? target.closest<SVGGElement>("[data-call]") : null;
  return bar?.dataset.call;
}

/** A call matches by its tool, its ids, its lane or how it ended. */
function matches(call: CallStory, wanted: string): boolean {
  const { toolName, callId, callIndex, conflictKeys = [], lanes, failureCategory = "" } = call;
  const names = [toolName, callId, `#${callIndex}`, MARKS[markOf(call)].words, failureCategory, ...conflictKeys];
  return [...names, ...lanes.map((lane) => `lane ${lane}`)].some((name) => name.toLowerCase().includes(wanted));
}
