import type { BenchResults, BoutResult } from "../measure/results.ts";
import { readBars } from "./bars.ts";
import { barTable, callTable, fieldTable, largeTable } from "./tables.ts";

/** The page in docs/, from the results of one run and the notes that people have written. */
export function composePage(results: BenchResults, notes: string): string {
  const parts = [
    describeRun(results),
    describeCalls(results),
    describeTurns(results),
    describeMixed(results),
    describeLarge(results),
    describeSessions(results),
    describeActions(results),
    describeMemory(results),
    notes.trim(),
  ];
  return `${parts.join("\n\n")}\n`;
}

function describeRun(results: BenchResults): string {
  return `# Performance

<!-- Written by \`npm run bench -- --write\` from bench/results.json and bench/page/notes.md. -->

What the kernel costs and what it keeps, beside runtimes that do less per call. Every figure is a ratio, or was measured in the same run as what it stands beside; [bench/README.md](../bench/README.md) says what is measured, how, and what is not.

${describeMachine(results)}

![CPU per call against unsafe overlaps and losses](performance.svg)

## The bars

${barTable(readBars(results))}`;
}

function describeCalls(results: BenchResults): string {
  return `## W1: calls that do nothing

N calls in one response.

${callTable(results)}`;
}

function describeTurns(results: BenchResults): string {
  return `## W2: a whole run, 3 calls a turn

1,000 turns:

${fieldTable(findBout(results, "w2", "1000"), TURN_COLUMNS)}

200 turns, since some cost more with every turn:

${fieldTable(findBout(results, "w2", "200"), TURN_COLUMNS)}`;
}

function describeMixed(results: BenchResults): string {
  return `## W3: a mixed response, and an abort

40 reads, 12 writes on 4 keys and 8 barriers of 10 ms each. An overlap is a pair of calls at work at the same time: with the same key, or one of them a barrier. A lost update was overwritten by a call that had read before it. The same response is aborted after 5 ms: a lost result is a call without an answer, misreported a write that took effect although the model is told nothing of it, or that it failed.

${fieldTable(findBout(results, "w3"), [
  ["makespanMs", "makespan, ms"],
  ["toIdeal", "of the ideal by the rules"],
  ["keyOverlaps", "overlaps, same key"],
  ["barrierOverlaps", "overlaps with a barrier"],
  ["lostUpdates", "lost updates"],
  ["lostResults", "lost results"],
  ["abortLostResults", "abort: lost results"],
  ["abortMisreported", "abort: misreported"],
])}

A makespan below the ideal is one that the rules forbid.`;
}

function describeLarge(results: BenchResults): string {
  return `## W4: large arguments

${largeTable(results)}`;
}

function describeSessions(results: BenchResults): string {
  return `## W5: 1,000 new sessions at once, 10 calls each

${fieldTable(findBout(results, "w5"), [
  ["cpuUsPerCall", "CPU per call, us"],
  ["openUsPerSession", "CPU to open one, us"],
])}`;
}

function describeActions(results: BenchResults): string {
  return `## W6: durable actions on SQLite

${fieldTable(findBout(results, "w6"), [
  ["rawPerSecond", "raw commits per s"],
  ["perSecond1", "actions per s, 1 in flight"],
  ["perSecond16", "16"],
  ["perSecond64", "64"],
  ["perSecond256", "256"],
  ["toRaw1", "of raw commits, 1 in flight"],
  ["toRaw64", "64"],
])}`;
}

function describeMemory(results: BenchResults): string {
  return `## W7: memory per waiting call

${fieldTable(findBout(results, "w7"), [
  ["bytesPerCall", "bytes per call beyond its arguments"],
  ["argumentBytesPerCall", "its arguments"],
])}`;
}

function findBout({ bouts }: BenchResults, workload: string, size?: string): BoutResult | undefined {
  return bouts.find((bout) => bout.workload === workload && (size === undefined || bout.size === size));
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
