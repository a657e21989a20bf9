/**
 * The script of the inspector page: puts model and views together.
 * Owns: when the views are drawn: at once for what a person does, so that the next key meets what is shown;
 * at most once a frame for entries that come, however fast they do.
 */
import type { RecordingEntry } from "../recording/entry.ts";
import { callKey } from "../timeline/draw-run.ts";
import { callsOf, markChips } from "../timeline/run-view.ts";
import { CallPanel } from "./call-panel.ts";
import { ChartView, shownOf } from "./chart-view.ts";
import { elementOf, fill, pageData } from "./elements.ts";
import { type FeedState, openFeed } from "./feed.ts";
import { InspectorModel, type Selection } from "./inspector-model.ts";
import { LogView } from "./log-view.ts";
import {
  actionChart,
  actionWords,
  NO_CHART,
  selectionFacts,
  selectionTitle,
  selectionWords,
} from "./selection-words.ts";
import { chosenTab, onTab } from "./tabs.ts";
import { nextZoom, TimelineView } from "./timeline-view.ts";
import { TreeView } from "./tree-view.ts";

// The page's own data, written by the same version of this package.
const data = pageData() as { readonly entries: readonly RecordingEntry[]; readonly feed?: string };
const model = new InspectorModel();
const button = (id: string): HTMLButtonElement => elementOf(id, HTMLButtonElement);
const input = (id: string): HTMLInputElement => elementOf(id, HTMLInputElement);
const place = (id: string): HTMLElement => elementOf(id, HTMLElement);

const tree = new TreeView(place("tree"), select);
const log = new LogView(place("log"), ({ index, selection }) => {
  model.selection = selection;
  showMoment(index);
});
const chart = new ChartView(place("chart"));
const panel = new CallPanel(place("panel"), () => undefined);
const timeline = new TimelineView(place("timeline"), (call) => {
  select({ runId: call.runId, id: `call:${call.turn}:${call.callIndex}` });
  panel.show(call);
});
let isDrawing = false;
let showsAction = false;
let zoom = 1;
/** What a person has chosen; until then it depends on how many calls there are. */
let showWaiting: boolean | undefined;

document.documentElement.classList.add("scripted");
onTab(draw);
input("moment").addEventListener("input", () => showMoment(Number(input("moment").value)));
button("back").addEventListener("click", () => showMoment(model.moment - 1));
button("forward").addEventListener("click", () => showMoment(model.moment + 1));
button("latest").addEventListener("click", () => showMoment(model.count - 1));
for (const id of ["search", "show-events", "show-charts"]) input(id).addEventListener("input", draw);
button("whole").addEventListener("click", () => {
  chart.isWhole = toggle(button("whole"));
});
button("action").addEventListener("click", () => {
  showsAction = toggle(button("action"));
  draw();
});
input("waiting").addEventListener("change", () => {
  showWaiting = input("waiting").checked;
  draw();
});
button("wider").addEventListener("click", () => zoomTo(nextZoom(zoom, "nearer")));
button("narrower").addEventListener("click", () => zoomTo(nextZoom(zoom, "farther")));
button("details").addEventListener("click", () => {
  if (model.call !== undefined) panel.show(model.call);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") panel.close();
});
addEventListener("resize", drawSoon);
openFeed(data.entries, data.feed, {
  onEntries(entries) {
    model.add(entries);
    drawSoon();
  },
  onState: showState,
});
draw();

function select(selection: Selection): void {
  model.selection = selection;
  draw();
}

function showMoment(index: number): void {
  model.showMoment(index);
  draw();
}

function zoomTo(wanted: number): void {
  zoom = wanted;
  draw();
}

function drawSoon(): void {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    draw();
  });
}

function draw(): void {
  tree.draw(model.runs, model.selection);
  drawLog();
  drawMoment();
  if (chosenTab() === "chart") drawChart();
  else drawTimeline();
  if (panel.isOpen && model.call !== undefined) panel.show(model.call);
}

function drawLog(): void {
  const filter = {
    search: input("search").value,
    showEvents: input("show-events").checked,
    showCharts: input("show-charts").checked,
  };
  const count = log.draw(model.lines, filter, model.moment);
  elementOf("found", HTMLOutputElement).value = `${count} of ${model.count} entries`;
}

function drawMoment(): void {
  const { moment, count, lines } = model;
  const range = input("moment");
  range.max = String(Math.max(0, count - 1));
  range.value = String(moment);
  button("back").disabled = moment <= 0;
  button("forward").disabled = model.isFollowing;
  button("latest").disabled = model.isFollowing;
  const passed = (lines[moment]?.timeMs ?? 0) - (lines[0]?.timeMs ?? 0);
  const words = count === 0 ? "no entry yet" : `entry ${moment + 1} of ${count} · +${Math.round(passed)} ms`;
  elementOf("moment-words", HTMLOutputElement).value = words;
}

function drawChart(): void {
  const { actor, call } = model;
  const action = call === undefined ? undefined : actionChart(call, model.action);
  button("action").hidden = action === undefined;
  button("details").hidden = call === undefined;
  place("chart-title").textContent = selectionTitle(model);
  const isAction = showsAction && call !== undefined && action !== undefined;
  place("chart-words").textContent = isAction ? actionWords(call, model.action) : selectionWords(model);
  place("chart-facts").textContent = isAction ? "" : selectionFacts(actor);
  const shown = isAction ? action : actor === undefined ? undefined : shownOf(actor);
  chart.draw(shown, NO_CHART);
}

function drawTimeline(): void {
  const { run, call } = model;
  fill(place("timeline-chips"), run === undefined ? "" : markChips(callsOf(run)));
  if (run === undefined) return;
  const marked = call === undefined ? "" : callKey(call);
  timeline.draw(run, { zoom, showWaiting, search: "", marked });
  input("waiting").checked = showWaiting ?? timeline.showsWaitingByDefault;
}

function showState(state: FeedState): void {
  const words: Readonly<Record<FeedState, string>> = {
    recorded: "recorded",
    connecting: "connecting",
    live: "● live",
    lost: "connection lost, trying again",
    ended: "ended",
  };
  const source = place("source");
  source.textContent = words[state];
  source.dataset.state = state;
}

function toggle(pressed: HTMLButtonElement): boolean {
  const isPressed = pressed.getAttribute("aria-pressed") !== "true";
  pressed.setAttribute("aria-pressed", String(isPressed));
  return isPressed;
}
