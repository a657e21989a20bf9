import type { AgentHooks, ApprovalDecision, JsonObject } from "toolkernel";
import {
  type AgentBench,
  type AgentBenchOptions,
  ask,
  callPart,
  openAgentBench,
  type PlayedRun,
  say,
} from "./agent-bench.ts";
import { recordingTool } from "./run-calls.ts";

/** Asks for every call of `write`, about its id. */
export const ASK_FOR_WRITES: AgentHooks = {
  authorizeToolCall: ({ tool, call: { id } }) => (tool.name === "write" ? { ask: { about: id } } : undefined),
};

/** One read and two writes, each write under a key of its own. */
export const CALLS = [callPart("read", "a"), callPart("write", "b", { n: 1 }), callPart("write", "c", { n: 2 })];

export interface Waiting {
  readonly bench: AgentBench;
  readonly asked: PlayedRun;
  readonly read: readonly JsonObject[];
  readonly write: readonly JsonObject[];
}

/** Plays a run up to its questions. */
export async function playToQuestions(options: AgentBenchOptions = {}): Promise<Waiting> {
  const read = recordingTool();
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    conflictKey: (({ n }: JsonObject) => `k${n}`) as never,
  });
  const script = [ask(...CALLS), say("done")];
  const bench = openAgentBench({ tools: [read.tool, write.tool], hooks: ASK_FOR_WRITES, script, ...options });
  return { bench, asked: await bench.play(), read: read.runs, write: write.runs };
}

/** Answers by call id, as approvals by approval id. */
export function answer({ result }: PlayedRun, answers: Readonly<Record<string, ApprovalDecision>>) {
  const named = (result.approvals ?? []).filter(({ callId }) => answers[callId] !== undefined);
  return Object.fromEntries(named.map(({ approvalId, callId }) => [approvalId, answers[callId] as ApprovalDecision]));
}

export const openIds = ({ result }: PlayedRun) => (result.approvals ?? []).map(({ callId }) => callId);

export const GRANT_ALL = { b: true, c: true } as const;
