import { readFile, writeFile } from "node:fs/promises";
import type { BenchResults } from "../measure/results.ts";
import { drawChart } from "./chart.ts";
import { composePage } from "./page.ts";

/** Writes docs/performance.md and its chart. Paths are those of the compiled bench. */
export async function writePage(results: BenchResults): Promise<void> {
  const notes = await readFile(new URL("../page/notes.md", import.meta.url), "utf8");
  const docs = new URL("../../docs/", import.meta.url);
  await writeFile(new URL("performance.md", docs), composePage(results, notes));
  await writeFile(new URL("performance.svg", docs), drawChart(results));
}
