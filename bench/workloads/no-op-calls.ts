import type { BenchCall, BenchTool, Host } from "../contender.ts";
import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import type { Workload } from "../measure/workload.ts";

/** Calls of one round, at least; as many responses as that takes. */
const CALLS_PER_ROUND = 4_000;
/** Before the first round, since every runtime is compiled as it runs: so many calls, or so much time. */
const WARM_UP_CALLS = 60_000;
const WARM_UP_US = 1_000_000;

/** W1: calls that do nothing, `size` of them in one response. CPU time per call. */
export const noOpCalls: Workload = {
  name: "W1",
  about: "no-op calls in one response",
  prepare: async (contender, size) => {
    const calls = Number(size);
    const host = contender.equip({ tools: [noOp], cap: 8 })();
    const responses = Math.max(1, Math.round(CALLS_PER_ROUND / calls));
    const makeDrafts = draftMaker();
    const round = async (): Promise<number> => {
      const drafts = Array.from({ length: responses }, () => makeDrafts(calls));
      return measure(host, drafts);
    };
    for (let usedUs = 0, done = 0; usedUs < WARM_UP_US && done < WARM_UP_CALLS; done += calls * responses) {
      usedUs += await round();
    }
    return { round: async () => ({ cpuUsPerCall: (await round()) / (calls * responses) }) };
  },
};

/** A read that answers at once. */
export const noOp: BenchTool = {
  name: "noop",
  schema: { type: "object", properties: { i: { type: "integer" } }, required: ["i"], additionalProperties: false },
  kind: "read",
  execute: async () => "ok",
};

/** Makes drafts of calls whose arguments differ from all that came before, so that none is an exact repeat. */
export function draftMaker(): (count: number) => BenchCall[] {
  let made = 0;
  return (count) => {
    made += count;
    return Array.from({ length: count }, (_, index) => ({
      id: `call-${index}`,
      name: "noop",
      arguments: `{"i":${made - count + index}}`,
    }));
  };
}

async function measure(host: Host, drafts: readonly BenchCall[][]): Promise<number> {
  let last: unknown;
  collectYoungGarbage();
  const before = cpuMicroseconds();
  for (const draft of drafts) last = await host.respond(draft);
  const used = cpuMicroseconds() - before;
  checkAnswers(host, last, drafts.at(-1) ?? []);
  return used;
}

/** Every call has its answer, in order, or the figure says nothing. */
export function checkAnswers(host: Host, results: unknown, calls: readonly BenchCall[]): void {
  const answers = host.answers(results);
  const isWhole =
    answers.length === calls.length && answers.every(({ id, isError }, index) => id === calls[index]?.id && !isError);
  if (!isWhole) throw new Error(`a response of ${calls.length} calls has ${answers.length} good answers in order`);
}
