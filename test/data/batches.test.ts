/** Batches of tool calls that real models and benchmarks made, each run through a session in every run mode. */
import { existsSync, readFileSync } from "node:fs";
import {
  type AnyTool,
  type BatchResult,
  defineTool,
  type JsonObject,
  type ToolContext,
  type ToolExecution,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { follow, openBench, peakOf, type Running } from "../support/execution-bench.ts";
import { outcomesOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

interface DeclaredTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
  /** Known by measurement or by the benchmark's own label; `generic` and unknown count as a write. */
  readonly effect?: "read" | "write" | "generic";
}

interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** The text as the model sent it. */
  readonly rawArguments?: string;
}

interface BatchRecord {
  readonly id: string;
  readonly category: string;
  readonly tools: readonly DeclaredTool[];
  readonly batches: readonly (readonly RecordedCall[])[];
  /** Per batch: pairs of calls of which the first must have ended before the second starts. */
  readonly orderEdges?: readonly (readonly (readonly [first: number, second: number, kind: string])[])[];
  readonly invalidCalls?: readonly (readonly [batch: number, call: number, why: string])[];
}

const FILE = new URL("../../../shared/data/tool-calls/batches.jsonl", import.meta.url);
const isAbsent = !existsSync(FILE);
const records = isAbsent ? [] : readRecords();
const MODES: readonly ToolExecution[] = ["sequential", "safeParallel", "parallel"];
const LIMITS = {
  maxToolCallsPerTurn: 64,
  exactToolRepeatAdvisoryThreshold: 0,
  exactToolRepeatTerminationThreshold: 0,
};

function readRecords(): readonly BatchRecord[] {
  const text = readFileSync(FILE, "utf8").trim();
  return text.split("\n").map((line) => JSON.parse(line) as BatchRecord);
}

/** The conflict key of a call, from its arguments alone. */
type KeyOf = (args: JsonObject) => string | undefined;

/** When a call's executor began and ended, as steps of one counter, so that no two are equal. */
interface Span {
  begin: number;
  end: number;
}

interface PlayedBatch {
  readonly calls: readonly RecordedCall[];
  readonly result: BatchResult;
  readonly running: Running;
  /** By place; a call that was not run has none. */
  readonly spans: ReadonlyMap<number, Span>;
}

/** Plays all batches of a record in one session, one after another. */
async function play(record: BatchRecord, toolExecution: ToolExecution, keyOf?: KeyOf): Promise<readonly PlayedBatch[]> {
  const simulated = trackedClock();
  const counter = { now: 0 };
  let spans = new Map<number, Span>();
  const tools = record.tools.map((tool) =>
    toolOf(tool, async ({ callIndex }) => {
      const span = { begin: counter.now++, end: Number.POSITIVE_INFINITY };
      spans.set(callIndex, span);
      // The later in its response, the sooner it ends: whatever may overlap ends in another order.
      await new Promise<void>((resolve) => {
        simulated.clock.setTimer(simulated.clock.now() + 50 - callIndex, resolve);
      });
      span.end = counter.now++;
    }),
  );
  const keyed = tools.map((tool): AnyTool => ({ ...tool, conflictKey: keyOf as AnyTool["conflictKey"] }));
  const bench = openBench({ simulated, tools: keyed, toolExecution, limits: LIMITS });
  const played: PlayedBatch[] = [];
  for (const calls of record.batches) {
    spans = new Map();
    const drafts = calls.map(({ id, name, arguments: parsed, rawArguments }) => ({
      id,
      name,
      arguments: rawArguments ?? parsed,
    }));
    const running = follow(bench.session.execute(drafts));
    await bench.advance(calls.length * 50 + 50);
    played.push({ calls, result: await running.result, running, spans });
  }
  await bench.session.close();
  return played;
}

/** A tool as published: its schema is somebody else's. */
function toolOf(
  { name, description = name, parameters, effect }: DeclaredTool,
  work: (context: ToolContext) => Promise<void>,
): AnyTool {
  const tool = defineTool({
    name,
    description,
    inputSchema: parameters,
    ...(effect === "read" && { risk: "readOnly" }),
    execute: async (_args: JsonObject, context: ToolContext) => {
      await work(context);
      return `${name} done`;
    },
  });
  return { ...tool, origin: "imported" } as AnyTool;
}

/** The edges that were not kept, as `record batch: i before j`. */
function brokenEdges(record: BatchRecord, played: readonly PlayedBatch[]): string[] {
  return (record.orderEdges ?? []).flatMap((edges, batch) =>
    edges.flatMap(([first, second]) => {
      const spans = played[batch]?.spans;
      const isKept = (spans?.get(first)?.end ?? Number.NaN) < (spans?.get(second)?.begin ?? Number.NaN);
      return isKept ? [] : [`${record.id} ${batch}: ${first} before ${second}`];
    }),
  );
}

const isMeasured = (record: BatchRecord): boolean =>
  record.orderEdges !== undefined && record.tools.every(({ effect }) => effect !== undefined);

describe.skipIf(isAbsent)("recorded batches (skipped where ../shared/data is absent)", { timeout: 120_000 }, () => {
  const categories = [...new Set(records.map(({ category }) => category))].sort();

  it("are all there: 316 records, 642 batches, 1,566 calls, the longest of 34", () => {
    const batches = records.flatMap(({ batches: own }) => own);
    expect([
      records.length,
      batches.length,
      batches.flat().length,
      Math.max(...batches.map(({ length }) => length)),
    ]).toEqual([316, 642, 1_566, 34]);
  });

  it.each(MODES.flatMap((mode) => categories.map((category) => [mode, category] as const)))(
    "CAN-4, EPOCH-6: in mode %s every call of %s is run once and has one result, in source order",
    async (mode, category) => {
      for (const record of records.filter((one) => one.category === category)) {
        for (const [batch, { calls, result, running, spans }] of (await play(record, mode)).entries()) {
          const refused = (record.invalidCalls ?? []).flatMap(([at, call]) => (at === batch ? [call] : []));
          const expected = calls.map((_, place) => (refused.includes(place) ? "refused" : "succeeded"));
          const ended = running.events.flatMap((event) => (event.kind === "toolEnded" ? [event.callId] : []));
          expect({
            id: record.id,
            outcomes: outcomesOf(result),
            messages: result.messages.map((message) => "callId" in message && message.callId),
            ended: [...ended].sort(),
            run: [...spans.keys()].sort((one, other) => one - other),
          }).toEqual({
            id: record.id,
            outcomes: expected,
            messages: calls.map(({ id }) => id),
            ended: calls.map(({ id }) => id).sort(),
            run: [...calls.keys()].filter((place) => !refused.includes(place)),
          });
        }
      }
    },
  );

  it("EPOCH-1, EPOCH-2: in mode safeParallel a call has ended before any starts that does not commute with it", async () => {
    const measured = records.filter(isMeasured);
    const edges = measured.flatMap(({ orderEdges = [] }) => orderEdges.flat());
    expect([measured.length, edges.length]).toEqual([100, 182]);
    const broken: string[] = [];
    const peaks: number[] = [];
    for (const record of measured) {
      const played = await play(record, "safeParallel");
      broken.push(...brokenEdges(record, played));
      peaks.push(...played.map(({ running }) => peakOf(running.events)));
    }
    expect(broken).toEqual([]);
    // And that not by running one call after another.
    expect(Math.max(...peaks)).toBeGreaterThan(1);
  });

  it("EPOCH-4: with a key from their first argument, calls that share one run one at a time, in source order", async () => {
    const keyOf: KeyOf = (args) => JSON.stringify(Object.values(args)[0])?.slice(0, 100);
    let shared = 0;
    let overlapping = 0;
    for (const record of records) {
      for (const { calls, result, running, spans } of await play(record, "parallel", keyOf)) {
        overlapping += peakOf(running.events) > 1 ? 1 : 0;
        const keys = result.settled.map(({ conflictKeys }) => conflictKeys[0]);
        for (const [second, key] of keys.entries()) {
          const first = keys.lastIndexOf(key, second - 1);
          if (key === undefined || first === -1 || second === 0) continue;
          shared += 1;
          expect([
            calls[second]?.id,
            (spans.get(first)?.end ?? Number.NaN) < (spans.get(second)?.begin ?? Number.NaN),
          ]).toEqual([calls[second]?.id, true]);
        }
      }
    }
    expect([shared > 100, overlapping > 100]).toEqual([true, true]);
  });

  it("EPOCH-1: in mode parallel such edges are broken, so that keeping them above means something", async () => {
    const broken: string[] = [];
    for (const record of records.filter(isMeasured))
      broken.push(...brokenEdges(record, await play(record, "parallel")));
    expect(broken.length).toBeGreaterThan(100);
  });
});
