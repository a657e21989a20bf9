import { keyedTool, openBench } from "./execution-bench.ts";
import { call } from "./run-calls.ts";

export const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

/** Epochs of one call each, in source order, so that later calls are judged when their epoch starts. */
export function openOrdered(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

/** One epoch for all, so that calls wait in lanes and for slots. */
export function openParallel(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", executionMode: "parallel", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}

/** Ends every call that runs, in steps, until none does. */
export async function endAll(bench: ReturnType<typeof openOrdered>): Promise<void> {
  for (let open = [...bench.write.pending, ...bench.read.pending]; open.length > 0; ) {
    for (const one of open) one.resolve();
    await bench.advance();
    open = [...bench.write.pending, ...bench.read.pending];
  }
}
