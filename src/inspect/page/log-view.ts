/**
 * The log, with search.
 * Owns: which lines match, which part of them is drawn. Only the lines in view are elements, so that a long
 * recording is as quick as a short one. Arrow keys, page keys, home and end move the shown moment.
 */
import { build } from "./elements.ts";
import type { LogLine } from "./inspector-model.ts";

/** What of the log is shown. */
export interface LogFilter {
  readonly search: string;
  readonly showEvents: boolean;
  readonly showCharts: boolean;
}

const ROW_HEIGHT = 22;
const SPARE_ROWS = 8;

/** See the file header. */
export class LogView {
  readonly #list: HTMLElement;
  readonly #sheet: HTMLElement;
  readonly #onMoment: (line: LogLine) => void;
  #lines: readonly LogLine[] = [];
  #startMs = 0;
  #moment = -1;

  /** `onMoment` is told of the line that a person goes to. */
  constructor(list: HTMLElement, onMoment: (line: LogLine) => void) {
    this.#list = list;
    this.#onMoment = onMoment;
    this.#sheet = build("div", { class: "log-sheet", role: "presentation" });
    list.append(this.#sheet);
    list.addEventListener("scroll", () => this.#drawInView());
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Shows the lines that match, the one of the moment in view; returns how many match. */
  draw(lines: readonly LogLine[], filter: LogFilter, moment: number): number {
    this.#lines = lines.filter((line) => matches(line, filter));
    this.#startMs = lines[0]?.timeMs ?? 0;
    this.#moment = moment;
    this.#sheet.style.height = `${this.#lines.length * ROW_HEIGHT}px`;
    this.#bringIntoView(this.#place());
    this.#drawInView();
    return this.#lines.length;
  }

  /** The place of the newest shown line that is not after the moment. */
  #place(): number {
    return this.#lines.findLastIndex(({ index }) => index <= this.#moment);
  }

  #bringIntoView(place: number): void {
    if (place < 0) return;
    const { scrollTop, clientHeight } = this.#list;
    const top = place * ROW_HEIGHT;
    if (top < scrollTop) this.#list.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) this.#list.scrollTop = top + ROW_HEIGHT - clientHeight;
  }

  #drawInView(): void {
    const { scrollTop, clientHeight } = this.#list;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + SPARE_ROWS;
    const place = this.#place();
    const rows = this.#lines.slice(first, last).map((line, offset) => this.#row(line, first + offset, place));
    this.#sheet.replaceChildren(...rows);
    const active = this.#lines[place];
    if (active === undefined) this.#list.removeAttribute("aria-activedescendant");
    else this.#list.setAttribute("aria-activedescendant", `line-${active.index}`);
  }

  #row({ index, timeMs, scope, what, text, isChart }: LogLine, place: number, active: number): HTMLElement {
    const row = build(
      "div",
      {
        role: "option",
        id: `line-${index}`,
        class: `line${isChart ? " line-chart" : ""}${index > this.#moment ? " line-later" : ""}`,
        "data-place": String(place),
        "aria-selected": String(place === active),
        "aria-setsize": String(this.#lines.length),
        "aria-posinset": String(place + 1),
      },
      build("span", { class: "time" }, `+${Math.round(timeMs - this.#startMs)}`),
      build("span", { class: "scope" }, scope),
      build("span", { class: "what" }, what),
      build("span", { class: "text" }, text),
    );
    row.style.top = `${place * ROW_HEIGHT}px`;
    return row;
  }

  #click(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-place]") : null;
    if (row !== null) this.#go(Number(row.dataset.place));
  }

  #press(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.#list.clientHeight / ROW_HEIGHT) - 1);
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    const last = this.#lines.length - 1;
    const place =
      step !== undefined ? this.#place() + step : event.key === "Home" ? 0 : event.key === "End" ? last : undefined;
    if (place === undefined) return;
    event.preventDefault();
    this.#go(Math.max(0, Math.min(place, last)));
  }

  #go(place: number): void {
    const line = this.#lines[place];
    if (line !== undefined) this.#onMoment(line);
  }
}

function matches({ searched, isChart }: LogLine, { search, showEvents, showCharts }: LogFilter): boolean {
  if (isChart ? !showCharts : !showEvents) return false;
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
