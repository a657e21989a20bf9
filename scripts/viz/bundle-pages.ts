import { readFileSync } from "node:fs";
import { build, transform } from "esbuild";
import { CHART_STYLE } from "../../src/inspect/charts/chart-style.ts";
import { ROOT } from "../../test/support/syntax.ts";

const PAGE = "src/inspect/page";
const SHEETS = ["page.css", "timeline.css", "inspector.css"];

/** The module that holds the scripts and the style sheet of the pages, from their sources. */
export async function pagesModule(): Promise<string> {
  const [report, inspector] = await Promise.all([bundleScript("report"), bundleScript("inspector")]);
  const style = await minifyStyle();
  return [
    "// Written by `npm run viz` from src/inspect/page; not edited by hand.",
    "",
    "/** The script of the timeline report. */",
    `export const REPORT_SCRIPT: string = ${JSON.stringify(report)};`,
    "",
    "/** The script of the inspector page. */",
    `export const INSPECTOR_SCRIPT: string = ${JSON.stringify(inspector)};`,
    "",
    "/** The style sheet of both. */",
    `export const PAGE_STYLE: string = ${JSON.stringify(style)};`,
    "",
  ].join("\n");
}

async function bundleScript(name: "report" | "inspector"): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`${PAGE}/${name}.ts`],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    // Paths of tsconfig.json would put the kernel's sources into the page.
    tsconfigRaw: {},
  });
  return (outputFiles[0]?.text ?? "").trim();
}

async function minifyStyle(): Promise<string> {
  const sheets = SHEETS.map((name) => readFileSync(`${ROOT}${PAGE}/${name}`, "utf8"));
  const { code } = await transform([CHART_STYLE, ...sheets].join("\n"), {
    loader: "css",
    minify: true,
    charset: "utf8",
  });
  return code.trim();
}
