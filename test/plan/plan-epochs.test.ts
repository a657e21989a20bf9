import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExecutionMode, ToolExecution, ToolRisk } from "../../src/domain/tool.ts";
import { mayOverlap, type PlannableCall, planEpochs } from "../../src/plan/plan-epochs.ts";

interface NamedCall extends PlannableCall {
  readonly name: number;
}

const modes: readonly ToolExecution[] = ["sequential", "safeParallel", "parallel"];
const toolArbitrary = fc.record({
  risk: fc.constantFrom<ToolRisk | undefined>("readOnly", "idempotentWrite", "nonIdempotentWrite", undefined),
  executionMode: fc.constantFrom<ExecutionMode | undefined>("sequential", "parallel", undefined),
});
const batchArbitrary = fc
  .array(toolArbitrary, { maxLength: 40 })
  .map((tools) => tools.map((tool, name): NamedCall => ({ tool, name })));

describe("mayOverlap", () => {
  it.each([
    ["sequential", { risk: "readOnly", executionMode: "parallel" }, false],
    ["parallel", { risk: "nonIdempotentWrite", executionMode: "sequential" }, false],
    ["parallel", {}, true],
    ["safeParallel", {}, false],
    ["safeParallel", { risk: "readOnly" }, true],
    ["safeParallel", { risk: "readOnly", executionMode: "sequential" }, false],
    ["safeParallel", { risk: "idempotentWrite" }, false],
    ["safeParallel", { risk: "nonIdempotentWrite", executionMode: "parallel" }, true],
  ] as const)("EPOCH-1, EPOCH-7: in run mode %s a tool %j: %s", (mode, tool, expected) => {
    expect(mayOverlap(tool, mode)).toBe(expected);
  });
});

describe("planEpochs", () => {
  const read = { tool: { risk: "readOnly" } } as const;
  const write = { tool: {} } as const;

  it("EPOCH-2: reads around a write make three epochs", () => {
    const calls = [read, read, write, read, read].map(({ tool }, name) => ({ tool, name }));
    const names = planEpochs(calls, "safeParallel").map((epoch) => epoch.map(({ name }) => name));
    expect(names).toEqual([[0, 1], [2], [3, 4]]);
  });

  it("EPOCH-2: no call makes no epoch, one call makes one", () => {
    expect(planEpochs([], "parallel")).toEqual([]);
    expect(planEpochs([write], "safeParallel")).toEqual([[write]]);
  });

  it("EPOCH-2: every call is in exactly one epoch, in source order", () => {
    fc.assert(
      fc.property(batchArbitrary, fc.constantFrom(...modes), (calls, mode) => {
        expect(planEpochs(calls, mode).flat()).toEqual(calls);
      }),
    );
  });

  it("EPOCH-1, EPOCH-2: an epoch is one call, or calls that may all overlap; two neighbours never could be one", () => {
    fc.assert(
      fc.property(batchArbitrary, fc.constantFrom(...modes), (calls, mode) => {
        const epochs = planEpochs(calls, mode);
        for (const [place, epoch] of epochs.entries()) {
          const areOverlappable = epoch.every(({ tool }) => mayOverlap(tool, mode));
          expect(epoch.length > 0).toBe(true);
          expect(epoch.length === 1 || areOverlappable).toBe(true);
          const next = epochs[place + 1] ?? [];
          expect(areOverlappable && next.length > 0 && next.every(({ tool }) => mayOverlap(tool, mode))).toBe(false);
        }
      }),
    );
  });

  it("leaves the calls it was given as they were", () => {
    fc.assert(
      fc.property(batchArbitrary, fc.constantFrom(...modes), (calls, mode) => {
        const before = [...calls];
        planEpochs(Object.freeze(calls), mode);
        expect(calls).toEqual(before);
      }),
    );
  });
});
