/**
 * `npm run test:mutation:report [REPORT.json ...]`: what mutation testing found, by the reports of StrykerJS.
 * Prints every mutant that survived and that test/mutation/survivors.json does not explain, every explanation
 * that nothing needs any more, and every file whose score is not the one that is kept; each ends it with 1, as does a
 * score below the bound. With `--write` it writes
 * test/mutation/score.json and the part of docs/mutants.md that shows it.
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

/** A mutant that lives: what stands in the file, and what was put in its place. */
export interface Survivor {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
}

/** Mutants that live, and the one reason why. */
export interface Explained {
  readonly reason: string;
  readonly mutants: readonly Survivor[];
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
const PAGE = "docs/mutants.md";
const REPORTS = "reports/mutation";
const SHOWN = /(?<=^<!-- mutation -->\n)[\s\S]*?(?=^<!-- end of mutation -->$)/m;
const FOUND = new Set(["Killed", "Timeout"]);
const MISSED = new Set(["Survived", "NoCoverage"]);

/** Reads the scores and the explanations that are kept. */
export function readKept(): { readonly scores: Scores; readonly explained: readonly Explained[] } {
  return { scores: readJson<Scores>(SCORE_FILE, {}), explained: readJson<readonly Explained[]>(SURVIVORS_FILE, []) };
}

/** What docs/mutants.md has to show of them. */
export function describeScores(scores: Scores, explained: readonly Explained[]): string {
  const folders = new Map<string, FileScore>();
  for (const [file, score] of Object.entries(scores)) {
    const folder = `\`${/^(?:machines|src\/[^/]+)/.exec(file)?.[0] ?? file}\``;
    folders.set(folder, add(folders.get(folder), score));
  }
  const total = [...folders.values()].reduce(add, NONE);
  const rows = [...folders, ["all", total] as const].map(
    ([folder, score]) =>
      `| ${folder} | ${score.killed + score.survived} | ${score.killed} | ${score.survived} | ${percent(score)} |`,
  );
  return [
    "",
    "| folder | mutants | found | survive | score |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    ...explained.flatMap(({ reason, mutants }) => [
      reason,
      "",
      ...mutants.map((each) => `- ${nameSurvivor(each)}`),
      "",
    ]),
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

const NONE: FileScore = { killed: 0, survived: 0 };

function percent({ killed, survived }: FileScore): string {
  return `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
}

function readJson<Content>(path: string, absent: Content): Content {
  return existsSync(ROOT + path) ? (JSON.parse(readFileSync(ROOT + path, "utf8")) as Content) : absent; // files of this project's own making
}

interface Merged {
  readonly scores: Record<string, FileScore>;
  readonly survivors: Survivor[];
}

/**
 * A mutant that one report has found is found, whichever tests another met it with. Of a file that has changed since a
 * report was written, that report says nothing.
 */
function mergeReports(paths: readonly string[]): Merged {
  const found = new Map<string, Survivor & { readonly isKilled: boolean }>();
  for (const path of paths) {
    const { files } = JSON.parse(readFileSync(path, "utf8")) as Report; // StrykerJS writes nothing else there
    for (const [file, { source, mutants }] of Object.entries(files)) {
      if (!existsSync(ROOT + file) || readFileSync(ROOT + file, "utf8") !== source) {
        process.stdout.write(`has changed since ${path.slice(path.lastIndexOf("/") + 1)}: ${file}\n`);
        continue;
      }
      for (const { location, replacement = "", mutatorName, status } of mutants) {
        const key = JSON.stringify([file, location, mutatorName, replacement]);
        if ((!FOUND.has(status) && !MISSED.has(status)) || found.get(key)?.isKilled === true) continue;
        const original = textAt(source, location);
        const shown = oneLine(replacement) || mutatorName;
        found.set(key, { file, original, replacement: shown, isKilled: FOUND.has(status) });
      }
    }
  }
  return countFound([...found.values()]);
}

function countFound(mutants: readonly (Survivor & { readonly isKilled: boolean })[]): Merged {
  const merged: Merged = { scores: {}, survivors: [] };
  for (const { isKilled, ...mutant } of mutants) {
    const one = isKilled ? { killed: 1, survived: 0 } : { killed: 0, survived: 1 };
    merged.scores[mutant.file] = add(merged.scores[mutant.file], one);
    if (!isKilled) merged.survivors.push(mutant);
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

function keyOf({ file, original, replacement }: Survivor): string {
  return JSON.stringify([file, original, replacement]);
}

function main(args: readonly string[]): boolean {
  const given = args.filter((arg) => !arg.startsWith("--"));
  const reports =
    given.length > 0
      ? given
      : readdirSync(ROOT + REPORTS)
          .filter((name) => name.endsWith(".json"))
          .map((name) => `${ROOT}${REPORTS}/${name}`);
  const { scores: kept, explained } = readKept();
  const { scores, survivors } = mergeReports(reports);
  const named = explained.flatMap(({ mutants }) => mutants);
  const known = new Set(named.map(keyOf));
  const found = new Set(survivors.map(keyOf));
  const unexplained = survivors.filter((survivor) => !known.has(keyOf(survivor)));
  const idle = named.filter((survivor) => survivor.file in scores && !found.has(keyOf(survivor)));
  const stale = Object.keys(scores).filter((file) => JSON.stringify(kept[file]) !== JSON.stringify(scores[file]));
  const isWriting = args.includes("--write");
  const all = { ...kept, ...scores };
  const total = Object.values(all).reduce(add, NONE);
  const lines = [
    ...unexplained.map((survivor) => `survives: ${nameSurvivor(survivor)}`),
    ...idle.map((survivor) => `is found now: ${nameSurvivor(survivor)}`),
    ...(isWriting ? [] : stale.map((file) => `is otherwise in ${SCORE_FILE}: ${file}`)),
    `${total.killed} of ${total.killed + total.survived} mutants are found: ${percent(total)}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (isWriting) write(all, explained);
  return lines.length === 1 && (100 * total.killed) / (total.killed + total.survived) >= LEAST_SCORE;
}

function write(scores: Scores, explained: readonly Explained[]): void {
  const sorted = Object.fromEntries(Object.entries(scores).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(ROOT + SCORE_FILE, `${JSON.stringify(sorted, null, 2)}\n`);
  const page = readFileSync(ROOT + PAGE, "utf8");
  writeFileSync(
    ROOT + PAGE,
    page.replace(SHOWN, () => describeScores(sorted, explained)),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = main(process.argv.slice(2)) ? 0 : 1;
}
