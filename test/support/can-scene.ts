import { keyedTool, openBench } from "./execution-bench.ts";
import { call } from "./run-calls.ts";

export const keyed = (name: string, keys: string | readonly string[] | null, id: string) =>
  call(name, keys === null ? {} : { keys: keys as string }, id);

export const BEFORE_DISPATCH = "not_executed: cancelled before dispatch. Nothing happened.";

export function openMixed(options: Partial<Parameters<typeof openBench>[0]> = {}) {
  const write = keyedTool({ name: "write", trackExactRepeats: false });
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  return { ...openBench({ tools: [write, read], ...options }), write, read };
}
