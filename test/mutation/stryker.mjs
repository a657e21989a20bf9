/** One part of a mutation run, as `MUTATED` names it: a folder, or the small stages together. */

import { readFileSync } from "node:fs";

const PARTS = JSON.parse(readFileSync(new URL("./parts.json", import.meta.url), "utf8"));

const name = process.env.MUTATED ?? "stages";
// A chart is a literal that is read when it is loaded: nearly all of its mutants are static.
const { mutate, excludedMutations = [], ignoreStatic = true } = PARTS[name];

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/ignore-texts.mjs"],
  ignorers: ["texts"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  mutate,
  mutator: { excludedMutations },
  ignoreStatic,
  ignorePatterns: ["/bench", "/dist", "/docs", "/examples", "/reports", "/visualizations", "/.tmp"],
  concurrency: 2,
  reporters: ["clear-text", "json", "progress-append-only"],
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  tempDirName: `.stryker-tmp/${name}`,
  timeoutMS: 6_000,
  timeoutFactor: 2,
  disableTypeChecks: false,
  tsconfigFile: "none.json",
};
