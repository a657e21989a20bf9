/**
 * One part of a mutation run, as `MUTATED` names it: a folder, or the small stages together. With `MUTATED_AGAIN` only
 * the places at which mutants live, by the report of the whole part.
 */

import { readdirSync, readFileSync } from "node:fs";

const name = process.env.MUTATED ?? "stages";
const isAgain = process.env.MUTATED_AGAIN === "1";
const reportOf = (report) => `reports/mutation/${report}.json`;

const PARTS = readJson(new URL("./parts.json", import.meta.url));
// A chart is a literal that is read when it is loaded: nearly all of its mutants are static.
const { mutate, excludedMutations = [], everyNthLine = 1, ignoreStatic = true } = PARTS[name];

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** What lies within every n-th line. */
function someLines() {
  return readdirSync(mutate[0], { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const lines = readFileSync(`${mutate[0]}/${file}`, "utf8").split("\n").length;
      const places = Array.from({ length: Math.floor(lines / everyNthLine) }, (_, place) => (place + 1) * everyNthLine);
      return places.map((line) => `${mutate[0]}/${file}:${line}-${line}`);
    });
}

function placesOfSurvivors() {
  const { files } = readJson(reportOf(name));
  const places = Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === "Survived" || status === "NoCoverage")
      .map(({ location: { start, end } }) => `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`),
  );
  return [...new Set(places)];
}

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/ignore-texts.mjs"],
  ignorers: ["texts"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  mutate: isAgain ? placesOfSurvivors() : everyNthLine > 1 ? someLines() : mutate,
  mutator: { excludedMutations },
  ignoreStatic,
  ignorePatterns: ["/bench", "/dist", "/docs", "/examples", "/reports", "/visualizations", "/.tmp", "/.stryker-tmp"],
  concurrency: 2,
  reporters: ["clear-text", "json", "progress-append-only"],
  jsonReporter: { fileName: reportOf(isAgain ? `${name}-again` : name) },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  tempDirName: `.stryker-tmp/${name}`,
  timeoutMS: 6_000,
  timeoutFactor: 2,
  disableTypeChecks: false,
  tsconfigFile: "none.json",
};
