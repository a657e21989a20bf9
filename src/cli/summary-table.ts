import Table from "cli-table3";
import type { FileComparison } from "./compare-files.ts";
import type { Played, PlayedCall } from "./play-conversation.ts";
import { outcomeText, type Screen } from "./screen.ts";
import { plainWords, shortKey, shortTime } from "./wording.ts";

const PLAIN_CHARACTERS = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((corner) => [`${side}${corner}`, ""]),
  ),
);

/** One line per call: number, tool, keys, epoch, outcome, and its times. */
export function callTable(played: Played, workspace: string, screen: Screen): string {
  const severalTurns = new Set(played.calls.map(({ turn }) => turn)).size > 1;
  const heads = [...(severalTurns ? ["turn"] : []), "#", "tool", "key", "epoch", "outcome", "waited", "ran"];
  const rows = played.calls.map((call) => [
    ...(severalTurns ? [String(call.turn)] : []),
    ...cellsOf(call, workspace, screen),
  ]);
  return renderTable(heads, rows, screen);
}

/** One line per file that something happened to: how many edits were asked, and how many each way kept. */
export function fileTable(files: readonly FileComparison[], screen: Screen): string {
  const rows = files.map(({ path, asked, keptByKernel, keptByOther, same }) => [
    path,
    String(asked.length),
    String(keptByKernel.length),
    keptByOther.length < keptByKernel.length
      ? screen.paint.bad(String(keptByOther.length))
      : String(keptByOther.length),
    same ? "same" : screen.paint.bad("differs"),
  ]);
  return renderTable(["file", "edits asked", "kept by the kernel", "kept by Promise.all", "files"], rows, screen);
}

function cellsOf({ settled, waitedMs, ranMs }: PlayedCall, workspace: string, screen: Screen): readonly string[] {
  return [
    String(settled.index),
    plainWords(settled.call.name),
    settled.conflictKeys.map((key) => shortKey(key, workspace)).join(" "),
    settled.epoch === undefined ? "" : String(settled.epoch),
    outcomeText(screen.paint, settled.outcome, settled.result.failureCategory),
    waitedMs === undefined ? "" : shortTime(waitedMs),
    ranMs === undefined ? "" : shortTime(ranMs),
  ];
}

/** Lines and boxes on a terminal, columns of plain text elsewhere. */
export function renderTable(heads: readonly string[], rows: readonly (readonly string[])[], screen: Screen): string {
  const style = { head: [], border: [], "padding-left": 0, "padding-right": 1 };
  const plain = { ...PLAIN_CHARACTERS, middle: " " };
  const table = new Table({
    head: [...heads],
    style: { ...style, compact: true },
    ...(screen.isTerminal ? {} : { chars: plain }),
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table.toString().split("\n");
  return (screen.isTerminal ? lines : lines.map((line) => line.trimEnd())).join("\n");
}
