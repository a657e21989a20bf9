import fc from "fast-check";
import { ToolError, type ToolExecution } from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall, runningIn } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";
import { trackedSignal } from "../support/tracked.ts";

/** Many plays, on a machine that may be busy. */
const LONG_MS = 120_000;

const TOOLS = {
  read: { risk: "readOnly" },
  alone: { risk: "readOnly", executionMode: "sequential" },
  write: {},
  together: { risk: "idempotentWrite", executionMode: "parallel" },
} as const;
type ToolName = keyof typeof TOOLS;

interface DrawnCall {
  readonly tool: ToolName;
  readonly keys: readonly string[];
}

/** How the test ends one of the calls that run; `place` picks which. */
interface DrawnEnd {
  readonly place: number;
  readonly how: "returns" | "fails" | "loses";
}

const drawnCall = fc.record({
  tool: fc.constantFrom<ToolName>("read", "alone", "write", "together"),
  keys: fc.uniqueArray(fc.constantFrom<string>("a", "b", "c"), { maxLength: 2 }),
});
const drawnBatch = fc.record({
  calls: fc.array(drawnCall, { minLength: 1, maxLength: 12 }),
  ends: fc.array(
    fc.record({ place: fc.nat(7), how: fc.constantFrom<DrawnEnd["how"]>("returns", "returns", "fails", "loses") }),
    { minLength: 12, maxLength: 12 },
  ),
  mode: fc.constantFrom<ToolExecution>("sequential", "safeParallel", "parallel"),
  cap: fc.integer({ min: 1, max: 4 }),
  cancelAfter: fc.option(fc.nat(12), { freq: 4 }),
});
type DrawnBatch = typeof drawnBatch extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const isWrite = ({ tool }: DrawnCall): boolean => tool === "write" || tool === "together";
const sharesKey = (one: DrawnCall, other: DrawnCall): boolean => one.keys.some((key) => other.keys.includes(key));

/** The rules, written as one reads them and without a thought of speed: who runs, who is done, who waits. */
class PlainRules {
  readonly ended = new Map<number, string>();
  running: number[] = [];
  readonly #drawn: DrawnBatch;
  readonly #lost: number[] = [];
  isCancelled = false;

  constructor(drawn: DrawnBatch) {
    this.#drawn = drawn;
    this.#advance();
  }

  /** One of those that run ends. */
  end(index: number, how: DrawnEnd["how"]): void {
    const outcome = this.#outcomeOf(index, how);
    this.running = this.running.filter((other) => other !== index);
    this.ended.set(index, outcome);
    if (outcome === "uncertain") this.#lost.push(index);
    this.#advance();
  }

  #outcomeOf(index: number, how: DrawnEnd["how"]): string {
    if (how !== "loses") return how === "returns" ? "succeeded" : "failed";
    if (isWrite(this.#call(index))) return "uncertain";
    return this.isCancelled ? "cancelled" : "failed";
  }

  /** The run is cancelled: who runs may still end, nobody starts. */
  cancel(): void {
    this.isCancelled = true;
    this.#advance();
  }

  #advance(): void {
    const { calls } = this.#drawn;
    for (const epoch of this.#epochs()) {
      for (const index of this.isCancelled ? calls.keys() : []) {
        if (!this.#isTaken(index)) this.ended.set(index, "cancelled");
      }
      for (const index of epoch) if (!this.#isTaken(index) && this.#isBlocked(index)) this.ended.set(index, "blocked");
      for (const index of epoch) {
        const before = epoch.filter((other) => other < index && !this.ended.has(other));
        const isFree = before.every((other) => !sharesKey(this.#call(other), this.#call(index)));
        if (!this.#isTaken(index) && isFree && this.running.length < this.#drawn.cap) this.running.push(index);
      }
      if (epoch.some((index) => !this.ended.has(index))) return;
    }
  }

  #epochs(): number[][] {
    const { calls, mode } = this.#drawn;
    const epochs: number[][] = [];
    let isOpen = false;
    for (const [index, { tool }] of calls.entries()) {
      const overlaps = mode !== "sequential" && tool !== "alone" && (mode === "parallel" || tool !== "write");
      if (overlaps && isOpen) epochs.at(-1)?.push(index);
      else epochs.push([index]);
      isOpen = overlaps;
    }
    return epochs;
  }

  #isBlocked(index: number): boolean {
    const one = this.#call(index);
    return (
      isWrite(one) &&
      this.#lost.some((lost) => {
        const other = this.#call(lost);
        return other.keys.length === 0 || one.keys.length === 0 || sharesKey(one, other);
      })
    );
  }

  #isTaken(index: number): boolean {
    return this.ended.has(index) || this.running.includes(index);
  }

  #call(index: number): DrawnCall {
    return this.#drawn.calls[index] ?? { tool: "read", keys: [] };
  }
}

/** Plays a batch through the kernel and through the plain rules at once; they must agree at every rest. */
async function play(drawn: DrawnBatch): Promise<void> {
  const tools = Object.entries(TOOLS).map(([name, options]) =>
    keyedTool({ name, trackExactRepeats: false, ...options }),
  );
  const limits = { maxConcurrentTools: drawn.cap };
  // Schemas are not what this is about, and compiling them is most of the cost of a session.
  const jsonSchemaValidator = { compile: () => () => [] };
  const bench = openBench({ tools, toolExecution: drawn.mode, limits, jsonSchemaValidator });
  const { signal, abort } = trackedSignal();
  const calls = drawn.calls.map(({ tool, keys }, index) => call(tool, { keys: keys as string[] }, `${index}`));
  const running = await bench.start(calls, { signal });
  const rules = new PlainRules(drawn);
  const agree = () => expect(runningIn(running.events).map(Number).sort()).toEqual([...rules.running].sort());
  for (let step = 0; rules.running.length > 0; step += 1) {
    agree();
    if (step === drawn.cancelAfter) {
      abort();
      rules.cancel();
      await bench.advance();
      agree();
    }
    const { place, how } = drawn.ends[step] ?? { place: 0, how: "returns" };
    const index = rules.running[place % rules.running.length] ?? 0;
    const tool = tools.find(({ name }) => name === drawn.calls[index]?.tool);
    if (tool === undefined) throw new Error("every drawn tool is registered");
    if (how === "returns") runningCall(tool, index).resolve();
    else if (how === "fails") runningCall(tool, index).reject(new ToolError("no"));
    else runningCall(tool, index).reject(new Error("lost"));
    rules.end(index, how);
    await bench.advance();
  }
  const result = await running.result;
  expect(outcomesOf(result)).toEqual(calls.map((_, index) => rules.ended.get(index)));
  expect(result.messages.map((message) => "callId" in message && message.callId)).toEqual(calls.map(({ id }) => id));
  const ended = running.events.flatMap((event) => (event.kind === "toolEnded" ? [event.callIndex] : []));
  expect([...ended].sort()).toEqual([...calls.keys()].sort());
}

describe("EPOCH-1 to EPOCH-5, UNC-1 to UNC-5, CAN-1, CAN-4: whatever batch, whatever order of ends", () => {
  it("the kernel runs exactly the calls that the rules say, at every moment", { timeout: LONG_MS }, async () => {
    await fc.assert(fc.asyncProperty(drawnBatch, play), { numRuns: 300 });
  });
});
