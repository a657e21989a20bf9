import { type AnyTool, defineTool, type JsonObject, type ToolContext } from "toolkernel";
import { openBench } from "./execution-bench.ts";
import { call, textsOf, verdictsOf } from "./run-calls.ts";

export type Execute = (args: JsonObject, context: ToolContext) => unknown;

/** A write that times out after 100 ms. */
export function writeOf(execute: Execute, options: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name: "tool",
    description: "Does what the test says.",
    inputSchema: { type: "object" } as JsonObject,
    timeoutMs: 100,
    ...(options as object),
    execute,
  }) as AnyTool;
}

export const trap = (): never => {
  throw new Error("trap");
};

/** Spelt apart, since a literal of that name is taken for a slip. */
export const THEN = "then";

/** Plays one call, time-out and grace included, and what it is told. */
export async function play(execute: Execute, options: Partial<AnyTool> = {}) {
  const bench = openBench({ tools: [writeOf(execute, options)] });
  const running = await bench.start([call("tool", {}, "t")]);
  await bench.advance(5_000);
  const result = await running.result;
  return { verdict: verdictsOf(result).join(), texts: textsOf(result), log: running.log(), bench };
}
