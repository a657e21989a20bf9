import type { BenchResults } from "../measure/results.ts";
import { readBars } from "./bars.ts";
import { barTable, callTable, fieldTable, largeTable } from "./tables.ts";

/** The page in docs/, from the results of one run and the notes that people have written. */
export function composePage(results: BenchResults, notes: string): string {
  const find = (workload: string, size?: string) =>
    results.bouts.find((bout) => bout.workload === workload && (size === undefined || bout.size === size));
  return `# Performance

<!-- Written by \`npm run bench -- --write\` from bench/results.json and bench/page/notes.md. -->

What the kernel costs and what it keeps, beside runtimes that do less per call. Every figure is a ratio, or was measured in the same run as what it stands beside; [bench/README.md](../bench/README.md) says what is measured, how, and what is not.

${describeMachine(results)}

![CPU per call against unsafe overlaps and losses](performance.svg)

## The bars

${barTable(readBars(results))}

## W1: calls that do nothing

N calls in one response.

${callTable(results)}

## W2: a whole run, 3 calls a turn

1,000 turns:

${fieldTable(find("w2", "1000"), TURN_COLUMNS)}

200 turns, since some cost more with every turn:

${fieldTable(find("w2", "200"), TURN_COLUMNS)}

## W3: a mixed response, and an abort

40 reads, 12 writes on 4 keys and 8 barriers of 10 ms each. An overlap is a pair of calls at work at the same time: with the same key, or one of them a barrier. A lost update was overwritten by a call that had read before it. The same response is aborted after 5 ms: a lost result is a call without an answer, misreported a write that took effect although the model is told nothing of it, or that it failed.

${fieldTable(find("w3"), [
  ["makespanMs", "makespan, ms"],
  ["toIdeal", "of the ideal by the rules"],
  ["keyOverlaps", "overlaps, same key"],
  ["barrierOverlaps", "overlaps with a barrier"],
  ["lostUpdates", "lost updates"],
  ["lostResults", "lost results"],
  ["abortLostResults", "abort: lost results"],
  ["abortMisreported", "abort: misreported"],
])}

A makespan below the ideal is one that the rules forbid.

## W4: large arguments

${largeTable(results)}

## W5: 1,000 new sessions at once, 10 calls each

${fieldTable(find("w5"), [
  ["cpuUsPerCall", "CPU per call, us"],
  ["openUsPerSession", "CPU to open one, us"],
])}

## W6: durable actions on SQLite

${fieldTable(find("w6"), [
  ["rawPerSecond", "raw commits per s"],
  ["perSecond1", "actions per s, 1 in flight"],
  ["perSecond16", "16"],
  ["perSecond64", "64"],
  ["perSecond256", "256"],
  ["toRaw1", "of raw commits, 1 in flight"],
  ["toRaw64", "64"],
])}

## W7: memory per waiting call

${fieldTable(find("w7"), [
  ["bytesPerCall", "bytes per call beyond its arguments"],
  ["argumentBytesPerCall", "its arguments"],
])}

${notes.trim()}
`;
}

const TURN_COLUMNS = [
  ["cpuUsPerCall", "CPU per call, us"],
  ["firstUsPerCall", "middle turn of the first tenth"],
  ["lastUsPerCall", "of the last tenth"],
  ["lastToFirst", "last to first"],
] as const;

function describeMachine({ machine, node, dateUtc, bouts }: BenchResults): string {
  const versions = new Set(bouts.flatMap(({ records }) => records.map(({ version }) => version)));
  const [before, after] = machine.loadAverages;
  return `Measured ${dateUtc.replace("T", " ")} UTC on ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGb} GB, Node ${node}, load ${before} before and ${after} after the run. ${[...versions].filter((version) => /\d/.test(version)).join(", ")}.`;
}
