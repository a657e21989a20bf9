import { type BenchResults, type BoutResult, figureOf, leastOf, ratioOf } from "../measure/results.ts";

/** One figure that was promised, and what came of it. */
export interface Bar {
  readonly figure: string;
  readonly bar: string;
  readonly measured: string;
  readonly isReached: boolean;
}

const SIZES = ["10", "100", "1000"];
const PEERS = ["aiSdk", "openaiAgents", "langGraph"];

/** The bars of the kernel with what this run measured. */
export function readBars(results: BenchResults): Bar[] {
  const find = (workload: string, size: string): BoutResult | undefined =>
    results.bouts.find((bout) => bout.workload === workload && bout.size === size);
  const toPi = (kernel: string) => SIZES.map((size) => ratioOf(find("w1", size), [kernel, "pi"], "cpuUsPerCall"));
  const perCall = (size: string) => figureOf(find("w1", size), "kernel", "cpuUsPerCall");
  const toPeers = ["1", ...SIZES, "10000"].flatMap((size) =>
    PEERS.map((peer) => ratioOf(find("w1", size), ["kernel", peer], "cpuUsPerCall")),
  );
  const large = results.bouts.filter(({ workload }) => workload === "w4");
  const largeToPeers = large.flatMap((bout) =>
    ["pi", ...PEERS].map((peer) => ratioOf(bout, ["kernel", peer], "cpuUsPerCall")),
  );
  const mixed = find("w3", "60");
  const safety = [
    "keyOverlaps",
    "barrierOverlaps",
    "lostUpdates",
    "lostResults",
    "abortLostResults",
    "abortMisreported",
  ];
  return [
    atMost("W1: CPU per call against pi-agent-core, 10 to 1,000 calls", 2, toPi("kernel")),
    atMost("W1: CPU per call against `ai`, `@openai/agents` and LangGraph, 1 to 10,000 calls", 1, toPeers),
    atMost("W1: growth from 100 to 10,000 calls", 1.5, [perCall("10000") / perCall("100")]),
    atMost("W1 on XState's own interpreter, against pi-agent-core, 10 to 1,000 calls", 12, toPi("kernelXState")),
    atMost("W2: the last 100 of 1,000 turns against the first 100", 1.1, [
      figureOf(find("w2", "1000"), "kernel", "lastToFirst"),
    ]),
    // Whatever else the machine does makes a makespan longer; the table shows the median.
    atMost("W3: makespan against the ideal, best round", 1.05, [leastOf(mixed, "kernel", "toIdeal")]),
    atMost("W3: unsafe overlaps and losses", 0, [
      safety.reduce((sum, field) => sum + figureOf(mixed, "kernel", field), 0),
    ]),
    atMost(
      "W4: CPU against bare, 100 KB and 1 MB",
      4,
      large.map((bout) => ratioOf(bout, ["kernel", "bare"], "cpuUsPerCall")),
    ),
    atMost("W4: CPU against every peer", 1, largeToPeers),
    atLeast("W6: actions per raw commit, 1 in flight", 0.4, figureOf(find("w6", ""), "kernel", "toRaw1")),
    atLeast("W6: the rate with 64 in flight against that with 1", 10, figureOf(find("w6", ""), "kernel", "toOne64")),
    atMost("W7: KB per waiting call beyond its arguments", 4, [
      figureOf(find("w7", "10000"), "kernel", "bytesPerCall") / 1024,
    ]),
  ];
}

function atMost(figure: string, most: number, values: readonly number[]): Bar {
  const [least, worst] = [Math.min(...values), Math.max(...values)];
  const measured = values.length === 1 ? show(worst) : `${show(least)} to ${show(worst)}`;
  return { figure, bar: `at most ${most}`, measured, isReached: worst <= most };
}

function atLeast(figure: string, fewest: number, value: number): Bar {
  return { figure, bar: `at least ${fewest}`, measured: show(value), isReached: value >= fewest };
}

/** A number with as many places as say something. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return "not measured";
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
