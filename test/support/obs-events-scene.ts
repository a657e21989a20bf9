import type { Batch, ToolSessionOptions, TraceRecord } from "toolkernel";
import { keyedTool, openBench } from "./execution-bench.ts";
import { call } from "./run-calls.ts";

export const trap = (): never => {
  throw new Error("secret of the listener");
};

/** A session with one read, its telemetry, and a batch of two calls that has not begun. */
export function openObserved(options: Partial<ToolSessionOptions> = {}) {
  const traced: TraceRecord[] = [];
  const read = keyedTool({ name: "read", risk: "readOnly", trackExactRepeats: false });
  const bench = openBench({ tools: [read], telemetry: { record: (record) => void traced.push(record) }, ...options });
  const execute = (): Batch => bench.session.execute([call("read", {}, "a"), call("read", {}, "b")]);
  const endAll = async (): Promise<void> => {
    await bench.advance();
    for (const one of [...read.pending]) one.resolve();
    await bench.advance();
  };
  const drops = () => traced.filter(({ name }) => name === "kernel.listenerdropped");
  return { ...bench, read, traced, execute, endAll, drops };
}

export const STORY = [
  "toolStarted a",
  "toolPrepared a",
  "toolStarted b",
  "toolPrepared b",
  "epochStarted",
  "toolDispatched a",
  "toolDispatched b",
  "toolEnded a",
  "toolEnded b",
  "epochSettled",
];
