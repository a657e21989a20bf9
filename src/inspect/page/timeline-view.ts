/**
 * The timeline of one run on a page.
 * Owns: the drawing in its element, which call has the focus, which calls match the search. Draws by the
 * same functions as the report on disk, so both look alike.
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
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** See the file header. */
export class TimelineView {
  readonly #scroller: HTMLElement;
  readonly #onOpen: (call: CallStory) => void;
  #run: TimelineRun | undefined;
  #calls: readonly CallStory[] = [];
  #focused: string | undefined;

  /** `onOpen` is told of the call that a person wants to know more of. */
  constructor(scroller: HTMLElement, onOpen: (call: CallStory) => void) {
    this.#scroller = scroller;
    this.#onOpen = onOpen;
    scroller.addEventListener("click", (event) => this.#open(keyOf(event.target)));
    scroller.addEventListener("keydown", (event) => this.#press(event));
    scroller.addEventListener("focusin", (event) => this.#note(keyOf(event.target)));
  }

  /** Draws a run, and answers how many of its calls match the search. */
  draw(run: TimelineRun, { zoom, showWaiting, search }: TimelineSettings): number {
    this.#run = run;
    this.#calls = callsOf(run);
    const width = Math.max(320, this.#scroller.clientWidth - NAMES_WIDTH - 4);
    const hadFocus = this.#scroller.contains(document.activeElement);
    fill(this.#scroller, timelineGrid(run, { width, zoom, showWaiting }));
    this.#makeReachable();
    if (hadFocus) this.focusCall();
    return this.find(search);
  }

  /** Dims what does not match; answers how many match. */
  find(search: string): number {
    const wanted = search.trim().toLowerCase();
    const matching = new Set(this.#calls.filter((call) => matches(call, wanted)).map(callKey));
    for (const bar of this.#bars()) bar.classList.toggle("tl-dim", !matching.has(bar.dataset.call ?? ""));
    return matching.size;
  }

  /** Puts the focus on the call that had it last. */
  focusCall(): void {
    const bar = this.#bars().find(({ dataset }) => dataset.call === this.#focused);
    bar?.focus();
  }

  /** Whether the waiting parts are shown when nobody has chosen. */
  get showsWaitingByDefault(): boolean {
    return this.#run !== undefined && this.#calls.length <= ROOMY_CALLS;
  }

  #bars(): readonly SVGGElement[] {
    return [...this.#scroller.querySelectorAll<SVGGElement>("[data-call]")];
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
    const place = this.#placeAfter(event.key, key);
    const next = place === undefined ? undefined : this.#calls[place];
    if (next === undefined) return;
    event.preventDefault();
    this.#note(callKey(next));
    this.focusCall();
  }

  #placeAfter(pressed: string, key: string): number | undefined {
    if (pressed === "Home") return 0;
    if (pressed === "End") return this.#calls.length - 1;
    const step = STEPS[pressed];
    return step === undefined ? undefined : this.#calls.findIndex((call) => callKey(call) === key) + step;
  }

  #open(key: string | undefined): void {
    const call = this.#calls.find((each) => callKey(each) === key);
    if (call === undefined) return;
    this.#note(key);
    for (const bar of this.#bars()) bar.classList.toggle("tl-open", bar.dataset.call === key);
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
