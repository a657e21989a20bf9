/**
 * `npm run rules`: which tests hold which rule of docs/rules.md, and which case of the catalogue.
 * Ends with 1 when a rule or case has no test and is not listed as pending, or is pending and has one.
 */
import { pathToFileURL } from "node:url";
import { type Coverage, readCoverage } from "./test-coverage.ts";

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const coverages = readCoverage();
  for (const coverage of coverages) {
    process.stdout.write(`${describeCoverage(coverage)}\n\n`);
  }
  process.exitCode = coverages.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

function describeCoverage({ name, rows, faults }: Coverage): string {
  const width = Math.max(...rows.map(({ id }) => id.length));
  const lines = rows.map(({ id, tests, isPending }) => `${id.padEnd(width)}  ${describeTests(tests, isPending)}`);
  const held = rows.filter(({ tests }) => tests.length > 0).length;
  return [`${name} -> tests`, ...lines, `${held} of ${rows.length} ${name} held by tests`, ...faults].join("\n");
}

function describeTests(tests: readonly string[], isPending: boolean): string {
  if (tests.length === 0) {
    return isPending ? "(pending)" : "NO TEST";
  }
  const files = new Map<string, number>();
  for (const file of tests) {
    files.set(file, (files.get(file) ?? 0) + 1);
  }
  return [...files].map(([file, count]) => `${file}: ${count}`).join(", ");
}
