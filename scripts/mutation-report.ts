/**
 * `npm run test:mutation:report [REPORT.json ...]`: what mutation testing found, by the reports of StrykerJS.
 * Prints every mutant that survived and that test/mutation/survivors.json does not explain, and every explanation
 * that nothing needs any more; both end it with 1, as does a score below the bound. With `--write` it writes
 * test/mutation/score.json and the part of docs/testing.md that shows it.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ROOT } from "../test/support/syntax.ts";

/** Mutants of one file, by what became of them. */
export interface FileScore {
  readonly killed: number;
  readonly survived: number;
}

/** Scores by file, as they stand in test/mutation/score.json. */
export type Scores = Readonly<Record<string, FileScore>>;

/** A mutant that lives, and why that is right: nobody could tell it from the original. */
export interface Survivor {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

/** The part of StrykerJS's report that is read. */
interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Place; readonly end: Place };
  readonly status: string;
}

/** The least that has to be found, of a hundred. */
export const LEAST_SCORE = 90;

const SCORE_FILE = "test/mutation/score.json";
const SURVIVORS_FILE = "test/mutation/survivors.json";
const PAGE = "docs/testing.md";
const REPORTS = "reports/mutation";
const SHOWN = /(?<=^<!-- mutation -->\n)[\s\S]*?(?=^<!-- end of mutation -->$)/m;
const FOUND = new Set(["Killed", "Timeout"]);
const MISSED = new Set(["Survived", "NoCoverage"]);

/** Reads the scores and survivors that are kept. */
export function readKept(): { readonly scores: Scores; readonly survivors: readonly Survivor[] } {
  return { scores: readJson<Scores>(SCORE_FILE, {}), survivors: readJson<readonly Survivor[]>(SURVIVORS_FILE, []) };
}

/** What docs/testing.md has to show of them. */
export function describeScores(scores: Scores, survivors: readonly Survivor[]): string {
  const folders = new Map<string, FileScore>();
  for (const [file, score] of Object.entries(scores)) {
    const folder = file.split("/").slice(0, -1).join("/");
    folders.set(folder, add(folders.get(folder), score));
  }
  const total = [...folders.values()].reduce<FileScore | undefined>(add, undefined);
  if (total === undefined) return "";
  const rows = [...folders, ["all", total] as const].map(
    ([folder, score]) =>
      `| ${folder === "all" ? "all" : `\`${folder}\``} | ${score.killed + score.survived} | ${score.killed} | ${percent(score)} |`,
  );
  const reasons = new Map<string, Survivor[]>();
  for (const survivor of survivors) reasons.set(survivor.reason, [...(reasons.get(survivor.reason) ?? []), survivor]);
  const explained = [...reasons].map(([reason, group]) => `- ${reason} ${group.map(nameSurvivor).join("; ")}.`);
  return [
    "",
    "| folder | mutants | found | score |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...(explained.length === 0
      ? []
      : ["What survives, and why nobody could tell it from the original:", "", ...explained, ""]),
  ].join("\n");
}

/** What the page shows now. */
export function shownScores(): string | undefined {
  return SHOWN.exec(readFileSync(ROOT + PAGE, "utf8"))?.[0];
}

function nameSurvivor({ file, original, replacement }: Survivor): string {
  const short = (text: string): string =>
    (text.length > 60 ? `${text.slice(0, 57)}...` : text).replaceAll("`", "'").replaceAll("|", "\\|");
  return `\`${file}\`: \`${short(original)}\` as \`${short(replacement)}\``;
}

function add(before: FileScore | undefined, { killed, survived }: FileScore): FileScore {
  return { killed: (before?.killed ?? 0) + killed, survived: (before?.survived ?? 0) + survived };
}

function percent({ killed, survived }: FileScore): string {
  return `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
}

function readJson<Content>(path: string, absent: Content): Content {
  return existsSync(ROOT + path) ? (JSON.parse(readFileSync(ROOT + path, "utf8")) as Content) : absent; // files of this project's own making
}

interface Merged {
  readonly scores: Record<string, FileScore>;
  readonly survivors: Omit<Survivor, "reason">[];
}

function mergeReports(paths: readonly string[]): Merged {
  const merged: Merged = { scores: {}, survivors: [] };
  for (const path of paths) {
    const { files } = JSON.parse(readFileSync(path, "utf8")) as Report; // StrykerJS writes nothing else there
    for (const [file, { source, mutants }] of Object.entries(files)) {
      const killed = mutants.filter(({ status }) => FOUND.has(status)).length;
      const missed = mutants.filter(({ status }) => MISSED.has(status));
      merged.scores[file] = { killed, survived: missed.length };
      for (const { location, replacement = "", mutatorName } of missed)
        merged.survivors.push({
          file,
          original: textAt(source, location),
          replacement: oneLine(replacement) || mutatorName,
        });
    }
  }
  return merged;
}

function textAt(source: string, { start, end }: Mutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return oneLine(
    lines
      .map((line, place) => line.slice(place === 0 ? start.column - 1 : 0, place === last ? end.column - 1 : undefined))
      .join("\n"),
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function keyOf({ file, original, replacement }: Omit<Survivor, "reason">): string {
  return JSON.stringify([file, original, replacement]);
}

function main(args: readonly string[]): boolean {
  const given = args.filter((arg) => !arg.startsWith("--"));
  const reports =
    given.length > 0
      ? given
      : readdirSync(ROOT + REPORTS)
          .filter((name) => name !== "incremental.json")
          .map((name) => `${ROOT}${REPORTS}/${name}`);
  const { scores: kept, survivors: explained } = readKept();
  const { scores, survivors } = mergeReports(reports);
  const known = new Set(explained.map(keyOf));
  const found = new Set(survivors.map(keyOf));
  const unexplained = survivors.filter((survivor) => !known.has(keyOf(survivor)));
  const idle = explained.filter((survivor) => survivor.file in scores && !found.has(keyOf(survivor)));
  const all = { ...kept, ...scores };
  const total = Object.values(all).reduce<FileScore>(add, { killed: 0, survived: 0 });
  const lines = [
    ...unexplained.map((survivor) => `survives: ${nameSurvivor({ ...survivor, reason: "" })}`),
    ...idle.map((survivor) => `is found now: ${nameSurvivor(survivor)}`),
    `${total.killed} of ${total.killed + total.survived} mutants are found: ${percent(total)}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (args.includes("--write")) write(all, explained);
  return (
    unexplained.length === 0 &&
    idle.length === 0 &&
    (100 * total.killed) / (total.killed + total.survived) >= LEAST_SCORE
  );
}

function write(scores: Scores, survivors: readonly Survivor[]): void {
  const sorted = Object.fromEntries(Object.entries(scores).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(ROOT + SCORE_FILE, `${JSON.stringify(sorted, null, 2)}\n`);
  const page = readFileSync(ROOT + PAGE, "utf8");
  writeFileSync(
    ROOT + PAGE,
    page.replace(SHOWN, () => describeScores(sorted, survivors)),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = main(process.argv.slice(2)) ? 0 : 1;
}
