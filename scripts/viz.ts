/**
 * `npm run viz`: writes what is drawn from the charts, and with `--check` says which of it is stale. The
 * charts in `machines/` are the one source; no file that is written here is edited by hand.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "../test/support/syntax.ts";
import { generateFiles } from "./viz/generate-files.ts";

const files = await generateFiles();
const stale = files.filter(({ path, text }) => currentText(path) !== text);

if (process.argv.includes("--check")) {
  for (const { path } of stale) process.stderr.write(`${path} is stale: npm run viz writes it anew\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { path, text } of stale) {
    writeFileSync(ROOT + path, text);
    process.stdout.write(`${path} is written anew\n`);
  }
}

function currentText(path: string): string | undefined {
  try {
    return readFileSync(ROOT + path, "utf8");
  } catch {
    return undefined;
  }
}
