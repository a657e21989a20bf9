import type { BenchTool } from "../contender.ts";
import { collectAllGarbage } from "../measure/cpu.ts";
import type { Workload } from "../measure/workload.ts";
import { draftMaker, noOp } from "./no-op-calls.ts";

/** W7: `size` calls of one response while all but the cap wait. Heap per call beyond its parsed arguments. */
export const waitingCalls: Workload = {
  name: "W7",
  about: "memory per waiting call, with 10,000 waiting",
  prepare: async (contender, size) => {
    const calls = Number(size);
    let release: () => void = () => undefined;
    let gate = Promise.resolve();
    const waiter: BenchTool = { ...noOp, execute: () => gate.then(() => "ok") };
    const open = contender.equip({ tools: [waiter], cap: 8 });
    const makeDrafts = draftMaker();
    return {
      round: async () => {
        // A new one each time: what it keeps of a response before would be given back while this one is weighed.
        const host = open();
        await host.respond(makeDrafts(1));
        gate = new Promise((resolve) => {
          release = resolve;
        });
        const drafts = makeDrafts(calls);
        const argumentBytes = await heapGrowth(async () =>
          drafts.map(({ arguments: text }) => JSON.parse(text) as object),
        );
        let ended: Promise<unknown> = Promise.resolve();
        const bytes = await heapGrowth(async () => {
          ended = host.respond(drafts);
          // Preparation goes on in microtasks; a turn of the event loop is behind all of them.
          for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        });
        release();
        await ended;
        return { bytesPerCall: (bytes - argumentBytes) / calls, argumentBytesPerCall: argumentBytes / calls };
      },
    };
  },
};

async function heapGrowth(work: () => Promise<unknown>): Promise<number> {
  collectAllGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = await work();
  collectAllGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  held = kept;
  return grown;
}

/** Keeps what was made alive until it has been weighed. */
let held: unknown;
export function lastHeld(): unknown {
  return held;
}
