/**
 * `npm run test:mutation [PART ...] [--again]`: mutation testing by StrykerJS, part after part, each with a report of its own in
 * `reports/mutation`; without a name, of all parts. With `--again` only where mutants lived by that report, for a report
 * beside it. What they found, `npm run test:mutation:report` says.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ROOT } from "../test/support/syntax.ts";

const PARTS = JSON.parse(readFileSync(`${ROOT}test/mutation/parts.json`, "utf8")) as object; // by name
const isAgain = process.argv.includes("--again");
const given = process.argv.slice(2).filter((arg) => arg !== "--again");
const unknown = given.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(", ")}; the parts are ${Object.keys(PARTS).join(", ")}.\n`);
  process.exitCode = 2;
} else {
  for (const name of given.length > 0 ? given : Object.keys(PARTS)) {
    const { status } = spawnSync("npx", ["stryker", "run", "test/mutation/stryker.mjs"], {
      cwd: ROOT,
      env: { ...process.env, MUTATED: name, MUTATED_AGAIN: isAgain ? "1" : "0" },
      stdio: "inherit",
    });
    if (status !== 0) process.exitCode = 1;
  }
}
