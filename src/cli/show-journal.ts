import type { JournalEntry, JournalEvidence, RunListing } from "toolkernel";
import { type Output, openScreen, type Screen, silentScreen } from "./screen.ts";
import { renderTable } from "./summary-table.ts";
import { plainWords } from "./wording.ts";

/** Where a task of the journal shows what it finds: as data, or in words. */
export interface Shower {
  /** Writes one JSON object as a line, where data is wanted. */
  data(line: object): void;
  /** Writes a sentence, where words are wanted. */
  say(words: string): void;
  /** Shows nothing where data is wanted. */
  readonly screen: Screen;
}

/** Makes the shower of an output. */
export function openShower(output: Output, format: "json" | "text"): Shower {
  const isJson = format === "json";
  const screen = isJson ? silentScreen : openScreen(output);
  return {
    data: (line) => {
      if (isJson) output.write(`${JSON.stringify(line)}\n`);
    },
    say: (words) => screen.line(plainWords(words)),
    screen,
  };
}

/** One line for each operation. */
export function entryTable(entries: readonly JournalEntry[], screen: Screen): string {
  const rows = entries.map(({ intent, state, fence, updatedAtMs }) => [
    plainWords(intent.operationId),
    state === "uncertain" ? screen.paint.warn(state) : state,
    plainWords(intent.action),
    plainWords(intent.conflictKeys.join(" ")),
    String(fence),
    timeOf(updatedAtMs),
  ]);
  return renderTable(["operation", "state", "action", "keys", "fence", "since"], rows, screen);
}

/** One line for each run. */
export function runTable(runs: readonly RunListing[], screen: Screen): string {
  const rows = runs.map(({ runId, status, turn, claimed, updatedAtMs }) => [
    plainWords(runId),
    status,
    String(turn),
    claimed ? "a live process" : "nobody",
    timeOf(updatedAtMs),
  ]);
  return renderTable(["run", "status", "turn", "held by", "since"], rows, screen);
}

const WORD_OF_EVIDENCE: Readonly<Record<JournalEvidence["kind"], string>> = Object.freeze({
  resolution: "a person's word",
  lateReceipt: "a late receipt",
  lateResolution: "a late word",
});

/** An operation, with what was kept beside its receipt. */
export interface ShownEntry {
  readonly entry: JournalEntry;
  readonly evidence: readonly JournalEvidence[];
}

/** Everything that is known of an operation, a line each. */
export function showEntry({ entry, evidence }: ShownEntry, screen: Screen): void {
  const { intent, state, fence, owner, receipt, forgotten, createdAtMs, updatedAtMs } = entry;
  const { moment, generationId, expectedRevision } = intent;
  const lines: readonly (readonly [string, string])[] = [
    ["operation", intent.operationId],
    ["state", forgotten === true ? `${state}, pruned` : state],
    ["action", intent.action],
    ["arguments", JSON.stringify(intent.arguments)],
    ...(intent.conflictKeys.length === 0 ? [] : [["keys", intent.conflictKeys.join(" ")] as const]),
    ["session", intent.sessionId],
    ["actor", intent.actorId],
    ["input", intent.inputId],
    ["moment", `${moment.timelineId} ${moment.tick}${generationId === undefined ? "" : ` in ${generationId}`}`],
    ...(expectedRevision === undefined ? [] : [["expected revision", String(expectedRevision)] as const]),
    ["fence", String(fence)],
    ["owner", owner],
    ["created", timeOf(createdAtMs)],
    ["changed", timeOf(updatedAtMs)],
    ...(receipt === undefined ? [] : [["receipt", JSON.stringify(receipt)] as const]),
    ...evidence.map(({ kind, atMs, fence: under, content }) => {
      return [WORD_OF_EVIDENCE[kind], `${timeOf(atMs)}, fence ${under}: ${JSON.stringify(content)}`] as const;
    }),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, text] of lines) screen.line(`${screen.paint.dim(name.padEnd(width))}  ${plainWords(text)}`);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
