/**
 * The bench. `npm run bench -- [--json] [--write | --page] [--quick] [--only w1:100,w3] [--with kernel,pi]`: prints
 * tables, or the results as JSON; `--write` also writes the page in docs/ and the results it is made of, `--page`
 * writes the page again from results that are there.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { PLAN, quick } from "./measure/plan.ts";
import { type BenchResults, type BoutResult, describeRun, figureOf, loadNow, ratioOf } from "./measure/results.ts";
import { type BoutPlan, runBouts } from "./measure/run-bouts.ts";
import { writePage } from "./page/write-page.ts";

const RESULTS = new URL("../results.json", import.meta.url);

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    with: { type: "string" },
  },
});

if (options.page) {
  await writePage(JSON.parse(await readFile(RESULTS, "utf8")) as BenchResults); // a file of ours
  process.exit();
}
const startLoad = loadNow();
const bouts: BoutResult[] = [];
for (const plan of chosenPlans()) {
  const bout = { workload: plan.workload, size: plan.size, records: await runBouts(plan) };
  bouts.push(bout);
  if (!options.json) printBout(bout);
}
const results = describeRun(startLoad, bouts);
if (options.json) console.log(JSON.stringify(results, undefined, 2));
if (options.write) {
  await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  await writePage(results);
}
// A contender that fails has no figures; that must not pass unseen.
if (bouts.some(({ records }) => records.some(({ failure }) => failure !== undefined))) process.exitCode = 1;

function chosenPlans(): BoutPlan[] {
  const only = options.only?.split(",");
  const contenders = options.with?.split(",");
  const chosen = PLAN.filter(({ workload, size }) => only?.some((name) => isNamed(name, workload, size)) ?? true);
  const narrowed = chosen.map((plan) => ({
    ...plan,
    contenders: plan.contenders.filter((key) => contenders?.includes(key) ?? true),
  }));
  return options.quick ? quick(narrowed) : narrowed;
}

function isNamed(name: string, workload: string, size: string): boolean {
  return name === workload || name === `${workload}:${size}`;
}

function printBout(bout: BoutResult): void {
  console.log(`\n${bout.workload.toUpperCase()} ${bout.size}`);
  for (const { contender, name, samples, failure } of bout.records) {
    const fields = Object.keys(samples[0] ?? {}).map((field) => {
      const ratio = ratioOf(bout, [contender, "pi"], field);
      const inUnits = /PerCall/.test(field) && Number.isFinite(ratio) ? ` (${ratio.toFixed(2)} x pi)` : "";
      return `${field} ${figureOf(bout, contender, field).toFixed(2)}${inUnits}`;
    });
    console.log(`  ${name.padEnd(30)} ${failure?.split("\n")[0] ?? fields.join(", ")}`);
  }
}
