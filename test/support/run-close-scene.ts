import { KernelError, toolResult } from "toolkernel";
import { type AgentBenchOptions, linesOf, openAgentBench, type PlayedRun } from "./agent-bench.ts";
import { eventsOf, recordingTool } from "./run-calls.ts";
import { findTranscriptFaults } from "./valid-transcript.ts";

/** A read whose result ends the loop, as far as it goes. */
export const last = {
  ...recordingTool({ name: "last" }).tool,
  execute: () => toolResult({ value: "ok", terminate: true }),
};

export const { tool: read } = recordingTool();

export async function play(options: AgentBenchOptions, queued: { steer?: string[]; followUp?: string[] } = {}) {
  const bench = openAgentBench({ tools: [read, last], ...options });
  const { run, finish } = bench.start();
  for (const message of queued.steer ?? []) run.steer(message);
  for (const message of queued.followUp ?? []) run.followUp(message);
  return { ...(await finish()), requests: bench.requests };
}

/** The faults and the queue of a run that ended by a hook's fault. */
export function faultOf({ result, events }: PlayedRun) {
  const { error } = result;
  return {
    status: result.status,
    code: error instanceof KernelError ? error.code : error,
    subject: error instanceof KernelError ? error.subject : undefined,
    undelivered: linesOf(result.undelivered),
    told: eventsOf(events, "runFaulted").map(({ code }) => code),
    transcript: findTranscriptFaults(result.messages),
  };
}

export const faultIn = (hook: string, undelivered: readonly string[]) => ({
  status: "kernelError",
  code: "INVALID_OPTIONS",
  subject: `hooks.${hook}`,
  undelivered,
  told: ["INVALID_OPTIONS"],
  transcript: [],
});
