import { chartMermaid } from "../../src/inspect/charts/chart-mermaid.ts";
import { readChart } from "../../src/inspect/charts/chart-model.ts";
import { styledDrawing } from "../../src/inspect/charts/chart-picture.ts";
import { CHART_NAMES, CHARTS, type ChartName } from "../../src/inspect/charts/charts.ts";
import { pagesModule } from "./bundle-pages.ts";
import { drawChart } from "./draw-chart.ts";
import { layOutChart } from "./lay-out-chart.ts";

/** A file as it has to be; `path` is relative to the project's root. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

const DRAWINGS = "src/inspect/charts/drawings.generated.ts";
const PAGES = "src/inspect/pages.generated.ts";

/** Everything that is generated: from the charts, and from the sources of the pages. The same sources give the same texts. */
export async function generateFiles(): Promise<readonly GeneratedFile[]> {
  const drawn = await Promise.all(CHART_NAMES.map(async (name) => [name, await drawingOf(name)] as const));
  const pictures = drawn.flatMap(([name, drawing]) => {
    const machine = CHARTS[name];
    return [
      { path: `visualizations/${name}.json`, text: `${JSON.stringify(machine.config, null, 2)}\n` },
      { path: `visualizations/${name}.mmd`, text: chartMermaid(readChart(machine)) },
      { path: `visualizations/${name}.svg`, text: styledDrawing(drawing) },
    ];
  });
  const modules = [
    { path: DRAWINGS, text: drawingsModule(drawn) },
    { path: PAGES, text: await pagesModule() },
  ];
  return [...pictures, ...modules];
}

async function drawingOf(name: ChartName): Promise<string> {
  const chart = readChart(CHARTS[name]);
  return drawChart(chart, await layOutChart(chart));
}

function drawingsModule(drawn: readonly (readonly [name: ChartName, drawing: string])[]): string {
  const entries = drawn.map(([name, drawing]) => `  ${JSON.stringify(name)}: ${JSON.stringify(drawing)},`);
  return [
    "// Written by `npm run viz` from the charts; not edited by hand.",
    'import type { ChartName } from "./charts.ts";',
    "",
    "/** The drawing of each chart: an SVG element without a style sheet. */",
    "export const DRAWINGS: Readonly<Record<ChartName, string>> = {",
    ...entries,
    "};",
    "",
  ].join("\n");
}
