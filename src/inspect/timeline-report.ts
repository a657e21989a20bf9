import type { KernelEvent, RecordedEvent } from "toolkernel";
import { checkOptions, mustBeString, type OptionCheck, readGiven } from "../domain/check-options.ts";
import { htmlPage } from "./html-page.ts";
import { escapeMarkup } from "./markup.ts";
import { PAGE_STYLE, REPORT_SCRIPT } from "./pages.generated.ts";
import type { Recording } from "./recording/read-recording.ts";
import { Story, type TimelineRun } from "./story/run-story.ts";
import { callsOf, callTable, legend, markChips, runWords, timelineGrid } from "./timeline/run-view.ts";

/** Options of {@link timelineReport}. */
export interface ReportOptions {
  /** Stands at the top; default `Timeline`. */
  readonly title?: string | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof ReportOptions, OptionCheck>> = { title: mustBeString };

/** The width the drawing has before a script knows the window's. */
const FIRST_WIDTH = 1_060;

/**
 * A timeline of recorded runs, or of the events of one, as one HTML file: lanes over time, epochs as columns,
 * every call a bar with its waiting and running parts, its details on click or key. It asks for nothing outside
 * of itself, and without scripts the drawing and a table of all calls are still there. Arguments, results and
 * conflict keys are in it only where they were recorded.
 * @throws KernelError `INVALID_OPTIONS` for what is neither a recording nor events, and naming the option.
 */
export function timelineReport(
  recorded: Recording | Iterable<RecordedEvent | KernelEvent>,
  options: ReportOptions = {},
): string {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const title = options.title ?? "Timeline";
  return readGiven("recorded", () => {
    const runs = storyOf(recorded).runs.map(withoutActors);
    return htmlPage({
      title,
      body: reportBody(runs, title),
      script: REPORT_SCRIPT,
      style: PAGE_STYLE,
      data: { runs },
      isLive: false,
    });
  });
}

function storyOf(recorded: Recording | Iterable<RecordedEvent | KernelEvent>): Story {
  // A list of events has a method of the name `entries`.
  if (!(Symbol.iterator in recorded)) return Story.of(recorded.entries);
  const story = new Story();
  for (const event of recorded) story.addEvent(event);
  return story;
}

function withoutActors({ actors: _actors, ...run }: ReturnType<typeof storyOf>["runs"][number]): TimelineRun {
  return run;
}

function reportBody(runs: readonly TimelineRun[], title: string): string {
  const calls = runs.flatMap(callsOf);
  const nothing = calls.length === 0 ? '<p class="nothing">No call was recorded.</p>' : "";
  return [
    '<div class="report">',
    `<header class="top"><h1>${escapeMarkup(title)}</h1>${markChips(calls)}${TOOLS}</header>`,
    `<main>${nothing}${runs.map(runSection).join("")}</main>`,
    '<aside id="panel" class="panel" aria-live="polite" hidden></aside>',
    `<footer>${legend()}<p class="note">Time runs evenly within a column; the width of a column grows with the square root of its duration.</p></footer>`,
    "</div>",
  ].join("\n");
}

const TOOLS = `<div class="tools needs-script">
<label>find <input id="search" type="search" placeholder="tool, id, outcome" autocomplete="off" spellcheck="false"></label>
<output id="found" for="search"></output>
<label><input id="waiting" type="checkbox"> show waiting</label>
<span class="zoom"><button id="narrower" type="button" aria-label="narrower">−</button><button id="wider" type="button" aria-label="wider">+</button></span>
</div>`;

function runSection(run: TimelineRun): string {
  const calls = callsOf(run);
  if (calls.length === 0) return "";
  const started = new Date(run.startedAtMs).toISOString();
  return [
    `<section class="run" data-run="${escapeMarkup(run.runId)}">`,
    `<h2>run ${escapeMarkup(run.runId)}</h2>`,
    `<p class="sub">${escapeMarkup(runWords(run))} · began <time datetime="${started}">${started}</time></p>`,
    `<div class="tl-scroll" role="group" aria-label="Timeline: one button a call; arrow keys move between calls, enter shows details">`,
    timelineGrid(run, { width: FIRST_WIDTH }),
    "</div>",
    `<details class="all-calls"><summary>All calls as a table</summary>${callTable(calls)}</details>`,
    "</section>",
  ].join("\n");
}
