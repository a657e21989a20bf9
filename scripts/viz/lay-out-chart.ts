import ElkConstructor, { type ElkExtendedEdge, type ElkNode, type LayoutOptions } from "elkjs/lib/elk.bundled.js";
import { type ChartEdge, type ChartModel, type ChartState, childrenOf } from "../../src/inspect/charts/chart-model.ts";
import { edgeBox, PADDING, stateBox, type TextBox } from "./chart-boxes.ts";

/** A point, in pixels from the top left of the drawing. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle of the drawing. */
export interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** A state with its place. */
export interface PlacedState {
  readonly state: ChartState;
  readonly area: Area;
  readonly box: TextBox;
}

/** An edge with its way; without `edge` it is the one that leads into an initial state. */
export interface PlacedEdge {
  readonly edge?: ChartEdge;
  readonly points: readonly Point[];
  readonly label?: { readonly area: Area; readonly box: TextBox };
}

/** A chart whose every part has its place. */
export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly states: readonly PlacedState[];
  readonly edges: readonly PlacedEdge[];
  /** The dots from which initial states are entered, by their middle. */
  readonly starts: readonly Point[];
}

const START_SIZE = 10;

const OPTIONS: LayoutOptions = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.spacing.nodeNodeBetweenLayers": "20",
  "elk.layered.spacing.edgeNodeBetweenLayers": "12",
  "elk.spacing.nodeNode": "26",
  "elk.spacing.edgeNode": "16",
  "elk.spacing.edgeEdge": "12",
  "elk.spacing.edgeLabel": "4",
  "elk.layered.thoroughness": "40",
  // A long way is told where it begins.
  "elk.layered.edgeLabels.centerLabelPlacementStrategy": "TAIL_LAYER",
  "elk.json.edgeCoords": "ROOT",
  "elk.json.shapeCoords": "ROOT",
};
// Keeps the order of the chart, so that a reader starts at the top; the layout engine can do so for flat charts alone.
const FLAT_OPTIONS: LayoutOptions = {
  "elk.layered.cycleBreaking.strategy": "MODEL_ORDER",
  "elk.layered.considerModelOrder.strategy": "PREFER_NODES",
};
const NESTED_OPTIONS: LayoutOptions = { "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST" };
const LABEL_OPTIONS: LayoutOptions = { "elk.edgeLabels.placement": "CENTER", "elk.edgeLabels.inline": "true" };

/** Gives every state and transition of a chart its place. The same chart gives the same layout. */
export async function layOutChart(chart: ChartModel): Promise<ChartLayout> {
  const [root] = chart.states;
  if (root === undefined) throw new Error(`the chart ${chart.id} has no state`);
  const isFlat = childrenOf(chart, root.id).every(({ kind }) => kind !== "compound");
  const graph: ElkNode = {
    id: "drawing",
    children: nodesIn(chart, root),
    edges: [
      ...chart.edges.map((edge, index) => elkEdge(edge, index)),
      ...chart.states.filter(({ initial }) => initial !== undefined).map(startEdge),
    ],
  };
  const layoutOptions = { ...OPTIONS, ...(isFlat ? FLAT_OPTIONS : NESTED_OPTIONS) };
  return readLayout(await new ElkConstructor.default().layout(graph, { layoutOptions }), chart);
}

function nodesIn(chart: ChartModel, parent: ChartState): ElkNode[] {
  const start: ElkNode = { id: startId(parent), width: START_SIZE, height: START_SIZE };
  return [start, ...childrenOf(chart, parent.id).map((state) => elkNode(chart, state))];
}

function elkNode(chart: ChartModel, state: ChartState): ElkNode {
  const { width, height } = stateBox(state);
  if (state.kind !== "compound") return { id: state.id, width, height };
  const top = height + PADDING.y;
  return {
    id: state.id,
    children: nodesIn(chart, state),
    layoutOptions: {
      "elk.padding": `[top=${top},left=18,bottom=18,right=18]`,
      "elk.nodeSize.constraints": "MINIMUM_SIZE",
      "elk.nodeSize.minimum": `(${width},${top})`,
    },
  };
}

function elkEdge(edge: ChartEdge, index: number): ElkExtendedEdge {
  const { width, height } = edgeBox(edge);
  const label = { text: "label", width, height, layoutOptions: LABEL_OPTIONS };
  return { id: String(index), sources: [edge.from], targets: [edge.to], labels: [label] };
}

function startEdge(state: ChartState): ElkExtendedEdge {
  return { id: `${startId(state)}.edge`, sources: [startId(state)], targets: [state.initial ?? ""] };
}

function startId({ id }: ChartState): string {
  return `${id}.start`;
}

function readLayout(graph: ElkNode, chart: ChartModel): ChartLayout {
  const nodes = withDescendants(graph);
  const byId = new Map(nodes.map((node) => [node.id, areaOf(node)]));
  const placed = chart.states.flatMap((state) => {
    const area = byId.get(state.id);
    return area === undefined ? [] : [{ state, area, box: stateBox(state) }];
  });
  const starts = chart.states.flatMap((state) => {
    const area = byId.get(startId(state));
    return area === undefined ? [] : [{ x: area.x + area.width / 2, y: area.y + area.height / 2 }];
  });
  const edges = nodes.flatMap((node) => node.edges ?? []).map((each) => placedEdge(each, chart));
  return { width: graph.width ?? 0, height: graph.height ?? 0, states: placed, edges, starts };
}

function placedEdge(placed: ElkExtendedEdge, chart: ChartModel): PlacedEdge {
  const points = (placed.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const edge = chart.edges[Number(placed.id)];
  if (edge === undefined) return { points };
  const [label] = placed.labels ?? [];
  return { edge, points, ...(label !== undefined && { label: { area: areaOf(label), box: edgeBox(edge) } }) };
}

function withDescendants(node: ElkNode): readonly ElkNode[] {
  return [node, ...(node.children ?? []).flatMap(withDescendants)];
}

function areaOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Area>): Area {
  return { x, y, width, height };
}
