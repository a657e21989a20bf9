import { readGiven } from "../domain/check-options.ts";
import type { GameAgentPerformanceSummary } from "./performance-summary.ts";

/** One line: what it is, its value; lines of a group are indented. */
type Line = readonly [label: string, value: string];

/**
 * The summary as a table of plain text for people: a line per figure, values aligned to the right, every
 * line ended. Outcomes and categories without a call are left out; times are in milliseconds.
 * @throws KernelError `INVALID_OPTIONS` for anything but a summary.
 */
export function formatSummary(summary: GameAgentPerformanceSummary): string {
  const lines = readGiven("summary", () => [...countLines(summary), ...timeLines(summary.times)]);
  const labelWidth = Math.max(...lines.map(([label]) => label.length));
  const valueWidth = Math.max(...lines.map(([, value]) => value.length));
  return lines.map(([label, value]) => `${label.padEnd(labelWidth)}  ${value.padStart(valueWidth)}\n`).join("");
}

function countLines(summary: GameAgentPerformanceSummary): readonly Line[] {
  return [
    ["runs", String(summary.runs)],
    ["turns", String(summary.turns)],
    ["model requests", String(summary.modelRequests)],
    ["tool calls", String(summary.toolCalls)],
    ...groupLines(summary.outcomes),
    ["failures", String(summary.toolCalls - summary.outcomes.succeeded)],
    ...groupLines(summary.failuresByCategory),
    ["world writes", String(summary.worldWrites)],
    ["uncertain writes", String(summary.uncertainWrites)],
    ["uncertainties resolved", String(summary.uncertaintiesResolved)],
    ["duplicates prevented", String(summary.duplicatesPrevented)],
    ["recoveries", String(summary.recoveries)],
    ["exact-repeat advisories", String(summary.exactRepeatAdvisories)],
    ["exact-repeat terminations", String(summary.exactRepeatTerminations)],
    ["late settlements", String(summary.lateSettlements)],
  ];
}

function groupLines(group: Readonly<Record<string, number>>): readonly Line[] {
  return Object.entries(group)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => [`  ${name}`, String(count)]);
}

function timeLines(times: GameAgentPerformanceSummary["times"]): readonly Line[] {
  return [
    ["total time", milliseconds(times.totalMs)],
    ["  model", milliseconds(times.modelMs)],
    ["  approval", milliseconds(times.approvalMs)],
    ["  tools", milliseconds(times.toolMs)],
    ["  framework", milliseconds(times.frameworkMs)],
    ["waiting for a slot", milliseconds(times.queueMs)],
    ["waiting for a key", milliseconds(times.keyMs)],
    ["waiting for an epoch", milliseconds(times.barrierMs)],
    ["durable framework", milliseconds(times.durableFrameworkMs)],
  ];
}

function milliseconds(time: number): string {
  return `${Math.round(time * 10) / 10} ms`;
}
