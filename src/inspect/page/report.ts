/** The script of the timeline report: search, zoom, waiting parts, details. */
import type { TimelineRun } from "../story/run-story.ts";
import { CallPanel } from "./call-panel.ts";
import { elementOf, pageData } from "./elements.ts";
import { nextZoom, type TimelineSettings, TimelineView } from "./timeline-view.ts";

interface Shown {
  readonly run: TimelineRun;
  readonly view: TimelineView;
}

// The page's own data, written by the same version of this package.
const { runs } = pageData() as { readonly runs: readonly TimelineRun[] };
const search = elementOf("search", HTMLInputElement);
const waiting = elementOf("waiting", HTMLInputElement);
const found = elementOf("found", HTMLOutputElement);
let settings: TimelineSettings = { zoom: 1, showWaiting: undefined, search: "" };
let lastUsed: TimelineView | undefined;
const panel = new CallPanel(elementOf("panel", HTMLElement), () => lastUsed?.focusCall());
const shown = runs.flatMap(show);

document.documentElement.classList.add("scripted");
change({});
waiting.checked = shown.every(({ view }) => view.showsWaitingByDefault);
search.addEventListener("input", () => {
  change({ search: search.value });
  if (search.value.trim() !== "") showFirstMatch({ takesFocus: false });
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") showFirstMatch({ takesFocus: true });
});
waiting.addEventListener("change", () => change({ showWaiting: waiting.checked }));
elementOf("wider", HTMLButtonElement).addEventListener("click", () =>
  change({ zoom: nextZoom(settings.zoom, "nearer") }),
);
elementOf("narrower", HTMLButtonElement).addEventListener("click", () =>
  change({ zoom: nextZoom(settings.zoom, "farther") }),
);
addEventListener("resize", () => change({}));
addEventListener("keydown", (event) => {
  if (event.key === "Escape") panel.close();
});

function show(run: TimelineRun): readonly Shown[] {
  const section = [...document.querySelectorAll<HTMLElement>("[data-run]")].find(
    ({ dataset }) => dataset.run === run.runId,
  );
  const scroller = section?.querySelector<HTMLElement>(".tl-scroll");
  if (scroller === null || scroller === undefined) return [];
  const view: TimelineView = new TimelineView(scroller, (call) => {
    lastUsed = view;
    panel.show(call);
  });
  return [{ run, view }];
}

function showFirstMatch(how: { readonly takesFocus: boolean }): void {
  shown.some(({ view }) => view.showFirstMatch(how));
}

function change(changed: Partial<TimelineSettings>): void {
  settings = { ...settings, ...changed };
  for (const { run, view } of shown) view.draw(run, settings);
  tellFound();
}

function tellFound(): void {
  const count = shown.reduce((sum, { view }) => sum + view.find(settings.search), 0);
  found.value = settings.search.trim() === "" ? "" : `${count} found`;
}
