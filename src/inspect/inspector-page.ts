import {
  checkGiven,
  checkOptions,
  mustBeList,
  mustBeString,
  type OptionCheck,
  readGiven,
} from "../domain/check-options.ts";
import { DRAWINGS } from "./charts/drawings.generated.ts";
import { htmlPage } from "./html-page.ts";
import { escapeMarkup } from "./markup.ts";
import { INSPECTOR_SCRIPT, PAGE_STYLE } from "./pages.generated.ts";
import type { Recording } from "./recording/read-recording.ts";

/** Options of {@link writeInspectorPage}. */
export interface InspectorPageOptions {
  /** Stands at the top; default `Inspector`. */
  readonly title?: string | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof InspectorPageOptions, OptionCheck>> = { title: mustBeString };

/**
 * The inspector as one HTML file that holds a recording: runs, responses, epochs and calls, the chart of the
 * selected one with its active state, the log with search, the timeline, each as of any entry. It asks for
 * nothing outside of itself.
 * @throws KernelError `INVALID_OPTIONS` for anything but a recording, and naming the option.
 */
export function writeInspectorPage(recording: Recording, options: InspectorPageOptions = {}): string {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  return readGiven("recording", () => {
    checkGiven(recording.entries, "recording.entries", mustBeList);
    return inspectorHtml(options.title ?? "Inspector", { entries: recording.entries });
  });
}

/** The page that listens to the server it comes from. */
export function liveInspectorPage(title: string): string {
  return inspectorHtml(title, { entries: [], feed: "feed" });
}

function inspectorHtml(
  title: string,
  data: { readonly entries: Recording["entries"]; readonly feed?: string },
): string {
  const body = [
    '<div class="inspector">',
    head(title, data.feed !== undefined),
    '<nav id="tree-pane" class="pane" aria-label="Runs, responses, epochs and calls"><div id="tree" role="tree" aria-label="Runs"></div></nav>',
    MIDDLE,
    LOG,
    "</div>",
    '<aside id="panel" class="panel" aria-live="polite" hidden></aside>',
    ...Object.entries(DRAWINGS).map(([name, svg]) => `<template id="drawing-${name}">${svg}</template>`),
  ].join("\n");
  const isLive = data.feed !== undefined;
  return htmlPage({ title, body, script: INSPECTOR_SCRIPT, style: PAGE_STYLE, data, isLive });
}

function head(title: string, isLive: boolean): string {
  return [
    '<header class="bar">',
    `<h1>${escapeMarkup(title)}</h1>`,
    `<span id="source" class="source">${isLive ? "connecting" : "recorded"}</span>`,
    '<div class="cursor" role="group" aria-label="Moment that is shown">',
    '<button id="back" type="button" aria-label="one entry back">◂</button>',
    '<input id="moment" type="range" min="0" max="0" value="0" aria-label="entry">',
    '<button id="forward" type="button" aria-label="one entry on">▸</button>',
    '<button id="latest" type="button">latest</button>',
    '<output id="moment-words" for="moment"></output>',
    "</div>",
    "</header>",
  ].join("");
}

const MIDDLE = `<main class="pane middle">
<div class="tabs" role="tablist" aria-label="View">
<button id="tab-chart" type="button" role="tab" aria-selected="true" aria-controls="view-chart">Chart</button>
<button id="tab-timeline" type="button" role="tab" aria-selected="false" aria-controls="view-timeline" tabindex="-1">Timeline</button>
</div>
<section id="view-chart" role="tabpanel" aria-labelledby="tab-chart">
<div class="chart-head"><h2 id="chart-title"></h2><p id="chart-words" aria-live="polite"></p><p id="chart-facts" class="fact-row"></p>
<span class="chart-tools"><button id="details" type="button">details</button><button id="action" type="button" aria-pressed="false">durable action</button><button id="whole" type="button" aria-pressed="false">whole chart</button></span></div>
<div id="chart" class="chart-scroll" tabindex="0" role="group" aria-label="Chart"></div>
</section>
<section id="view-timeline" role="tabpanel" aria-labelledby="tab-timeline" hidden><div class="timeline-head"><div id="timeline-chips"></div><div class="tools"><label><input id="waiting" type="checkbox"> show waiting</label><span class="zoom"><button id="narrower" type="button" aria-label="narrower">−</button><button id="wider" type="button" aria-label="wider">+</button></span></div></div><div id="timeline" class="tl-scroll" role="group" aria-label="Timeline: one button a call; arrow keys move between calls, enter shows details"></div></section>
</main>`;

const LOG = `<section class="pane log-pane" aria-label="Log">
<div class="log-tools"><input id="search" type="search" placeholder="search the log" aria-label="search the log" autocomplete="off" spellcheck="false">
<label><input id="show-events" type="checkbox" checked> events</label><label><input id="show-charts" type="checkbox" checked> charts</label></div>
<output id="found" for="search"></output>
<div id="log" class="log" role="listbox" tabindex="0" aria-label="Log entries"></div>
</section>`;
