import type { FileComparison } from "./compare-files.ts";
import type { Played } from "./play-conversation.ts";
import type { PromiseAllPlayed } from "./play-promise-all.ts";
import type { Screen } from "./screen.ts";
import { callTable, fileTable } from "./summary-table.ts";
import { callNumbers, countOf } from "./wording.ts";

/** 0: every call settled and nothing is uncertain; 2: something is uncertain; 1: interrupted, or an error. */
export type ExitCode = 0 | 1 | 2;

/** What became of a conversation. */
export interface Summary {
  readonly title: string | undefined;
  readonly played: Played;
  /** Calls whose outcome nobody knows. */
  readonly uncertain: number;
  readonly interrupted: boolean;
  readonly exitCode: ExitCode;
  readonly workspace: string;
  readonly workspaceKept: boolean;
}

/** What the comparison with `Promise.all` has shown. */
export interface Compared {
  readonly files: readonly FileComparison[];
  readonly promiseAll: PromiseAllPlayed;
  readonly workspace: string;
}

/** Shows the table of calls and what they came to. */
export function showSummary(summary: Summary, screen: Screen): void {
  const { played, uncertain, workspace } = summary;
  const { paint } = screen;
  screen.line("");
  screen.line(callTable(played, workspace, screen));
  const outcomes = [...outcomeCounts(played)].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  screen.line(`${countOf(played.calls.length, "call")}: ${outcomes === "" ? "none played" : outcomes}.`);
  if (uncertain > 0) {
    screen.line(paint.warn(`Nobody knows what became of ${countOf(uncertain, "call")}: look before you repeat.`));
  }
  const found = played.calls.filter(({ settled }) => settled.result.outcomeUncertain).length - uncertain;
  if (found > 0) {
    screen.line(`What became of ${countOf(found, "uncertain call")} has been found out since: the journal has it.`);
  }
  if (played.closedBy !== undefined) {
    screen.line(`The loop was closed (${played.closedBy}): ${responses(played.unplayedTurns)} not played.`);
  }
  if (summary.interrupted) {
    const rest = played.unplayedTurns === 0 ? "" : ` ${responses(played.unplayedTurns)} not played.`;
    screen.line(paint.warn(`Interrupted.${rest}`));
  }
  if (summary.workspaceKept) {
    screen.line(`The files are in ${workspace}.`);
  }
}

/** Shows, file by file, what the kernel and `Promise.all` have left. */
export function showComparison(compared: Compared, options: { readonly keep: boolean; readonly screen: Screen }): void {
  const { files, promiseAll } = compared;
  const { screen } = options;
  screen.line("");
  screen.line(screen.paint.bold("The same calls through Promise.all, on a fresh copy with fresh servers"));
  if (files.length > 0) {
    screen.line(fileTable(files, screen));
  }
  for (const file of files) {
    for (const line of lossLines(file, screen)) {
      screen.line(line);
    }
  }
  screen.line(verdict(files, screen));
  screen.line(`Promise.all reported success for ${promiseAll.succeeded} of ${countOf(promiseAll.calls, "call")}.`);
  if (options.keep) {
    screen.line(`The files that Promise.all left are in ${compared.workspace}.`);
  }
}

/** The last line of `--json`: the summary, without arguments and results. */
export function summaryLine(summary: Summary, compared: Compared | undefined): string {
  const { title, played, uncertain, interrupted, exitCode, workspace, workspaceKept } = summary;
  const calls = played.calls.map(({ turn, settled, waitedMs, ranMs }) => ({
    turn,
    callIndex: settled.index,
    callId: settled.call.id,
    toolName: settled.call.name,
    conflictKeys: settled.conflictKeys,
    epoch: settled.epoch,
    outcome: settled.outcome,
    failureCategory: settled.result.failureCategory,
    waitedMs,
    ranMs,
  }));
  return JSON.stringify({
    kind: "summary",
    title,
    exitCode,
    calls,
    uncertain,
    interrupted,
    unplayedTurns: played.unplayedTurns,
    closedBy: played.closedBy,
    ...(workspaceKept ? { workspace } : {}),
    ...(compared === undefined
      ? {}
      : { compared: { with: "promise-all", ...compared.promiseAll, files: compared.files.map(fileCounts) } }),
  });
}

function fileCounts(file: FileComparison): object {
  const { path, asked, keptByKernel, keptByOther, same } = file;
  return {
    path,
    asked: asked.length,
    keptByKernel: keptByKernel.length,
    keptByPromiseAll: keptByOther.length,
    lostByPromiseAll: lost(file),
    same,
  };
}

function outcomeCounts({ calls }: Played): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { settled } of calls) {
    counts.set(settled.outcome, (counts.get(settled.outcome) ?? 0) + 1);
  }
  return counts;
}

function responses(count: number): string {
  return `${countOf(count, "response")} ${count === 1 ? "was" : "were"}`;
}

/** What the kernel kept and the other way did not. */
function lost({ keptByKernel, keptByOther }: FileComparison): readonly string[] {
  return keptByKernel.filter((label) => !keptByOther.includes(label));
}

function lossLines(file: FileComparison, screen: Screen): readonly string[] {
  const missing = lost(file);
  return missing.length === 0
    ? []
    : [screen.paint.bad(`${file.path}: Promise.all lost the edits of ${callNumbers(missing)}.`)];
}

function verdict(files: readonly FileComparison[], screen: Screen): string {
  const asked = sum(files, (file) => file.asked.length);
  const byKernel = sum(files, (file) => file.keptByKernel.length);
  const byOther = sum(files, (file) => file.keptByOther.length);
  const { paint } = screen;
  if (asked === 0) {
    return files.every(({ same }) => same) ? "Both left the same files." : paint.bad("They left different files.");
  }
  const kernel = `The kernel kept ${byKernel} of ${countOf(asked, "edit")}`;
  const other = `Promise.all kept ${byOther} and lost ${asked - byOther}`;
  return paint.bold(`${kernel}; ${byOther === asked ? `Promise.all kept ${byOther}` : other}.`);
}

function sum(files: readonly FileComparison[], count: (file: FileComparison) => number): number {
  return files.reduce((total, file) => total + count(file), 0);
}
