import { checkGiven, oneOf } from "../../domain/check-options.ts";
import { chartMermaid } from "./chart-mermaid.ts";
import { readChart } from "./chart-model.ts";
import { CHART_STYLE } from "./chart-style.ts";
import { CHARTS, type ChartName } from "./charts.ts";
import { DRAWINGS } from "./drawings.generated.ts";

export type { ChartName } from "./charts.ts";

/** A form in which a chart can be had. */
export type ChartFormat = "mermaid" | "json" | "svg";

/**
 * A chart as text: Mermaid (`stateDiagram-v2`), the machine's own JSON, which opens in the Stately visualizer,
 * or an SVG drawing for light and dark surroundings. **shape**: ends with a line end.
 * @throws KernelError `INVALID_OPTIONS` for an unknown name or format.
 */
export function chartPicture(name: ChartName, format: ChartFormat): string {
  checkGiven(name, "name", oneOf(...Object.keys(CHARTS)));
  checkGiven(format, "format", oneOf("mermaid", "json", "svg"));
  switch (format) {
    case "mermaid":
      return chartMermaid(readChart(CHARTS[name]));
    case "json":
      return `${JSON.stringify(CHARTS[name].config, null, 2)}\n`;
    case "svg":
      return styledDrawing(DRAWINGS[name]);
  }
}

/** A drawing as a file of its own. */
export function styledDrawing(drawing: string): string {
  return `${drawing.replace("\n", `\n<style>${CHART_STYLE}</style>\n`)}\n`;
}
