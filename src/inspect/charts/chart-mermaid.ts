import { type ChartModel, type ChartState, childrenOf, transitionText } from "./chart-model.ts";
import { wrapWords } from "./wrap-words.ts";

const WIDEST_LINE_CHARACTERS = 44;

/** A chart as Mermaid text (`stateDiagram-v2`), for pages that draw it: descriptions, entry and exit actions, guards, actions. */
export function chartMermaid(chart: ChartModel): string {
  const root = chart.states[0];
  const body = root === undefined ? [] : statesIn(chart, root, "  ");
  const edges = chart.edges.map(({ from, to, transitions }) => {
    const label = transitions.map((transition) => plainText(transitionText(transition))).join("<br/>");
    return `  ${mermaidId(from)} --> ${mermaidId(to)} : ${label}`;
  });
  return `${["stateDiagram-v2", "  direction TB", ...body, ...edges].join("\n")}\n`;
}

function statesIn(chart: ChartModel, parent: ChartState, indent: string): readonly string[] {
  const states = childrenOf(chart, parent.id).flatMap((state) => stateLines(chart, state, indent));
  const first = parent.initial === undefined ? [] : [`${indent}[*] --> ${mermaidId(parent.initial)}`];
  return [...first, ...states];
}

function stateLines(chart: ChartModel, state: ChartState, indent: string): readonly string[] {
  const id = mermaidId(state.id);
  if (state.kind === "compound") {
    // Mermaid draws what lies in a state over all but the first line of its title.
    const { description, ...rest } = state;
    const title = [state.key, ...detailLines(rest).map((line) => `(${line})`)].join(" ");
    const note = description === undefined ? [] : [`${indent}%% ${description}`];
    return [...note, `${indent}state "${title}" as ${id} {`, ...statesIn(chart, state, `${indent}  `), `${indent}}`];
  }
  const lines = [`${indent}state "${state.key}" as ${id}`];
  lines.push(...detailLines(state).map((line) => `${indent}${id} : ${line}`));
  if (state.kind === "final") lines.push(`${indent}${id} --> [*]`);
  return lines;
}

function detailLines({ description, entry, exit, internal, tags }: ChartState): readonly string[] {
  return [
    ...wrapWords(description ?? "", WIDEST_LINE_CHARACTERS),
    ...entry.map((action) => `entry / ${action}`),
    ...exit.map((action) => `exit / ${action}`),
    ...internal.map(transitionText),
    ...tags.map((tag) => `tag / ${tag}`),
  ].map(plainText);
}

/** Mermaid reads a colon as the start of a text, a semicolon as the end of a line, and quotes as the end of a title. */
function plainText(text: string): string {
  return text.replaceAll(/[;:]/g, (mark) => (mark === ";" ? "#59;" : "#58;")).replaceAll('"', "'");
}

function mermaidId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9]/g, "_");
}
