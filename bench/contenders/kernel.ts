/** The kernel, by its public entry: one session per host, one `execute` per response. */
import { readFileSync } from "node:fs";
import {
  Agent,
  type AnyTool,
  type BatchResult,
  createToolSession,
  defineTool,
  type ModelResponse,
  type SessionHooks,
  type ToolSessionOptions,
} from "toolkernel";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSetup, BenchTool, Contender, Host } from "../contender.ts";

interface KernelVariant {
  readonly interpreter: "compiled" | "xstate";
  /** Whether somebody listens to every event. */
  readonly isWatched: boolean;
  /** Whether policy and authorization hooks are asked about every call. */
  readonly hasHooks: boolean;
}

const PLAIN: KernelVariant = { interpreter: "compiled", isWatched: false, hasHooks: false };

/** As it comes. */
export const kernel = contender("toolkernel", PLAIN);
/** With a listener that is told of every event. */
export const kernelWatched = contender("toolkernel, watched", { ...PLAIN, isWatched: true });
/** With both hooks and a listener. */
export const kernelFull = contender("toolkernel, hooks and watched", { ...PLAIN, isWatched: true, hasHooks: true });
/** On XState's own interpreter. */
export const kernelXState = contender("toolkernel on XState", { ...PLAIN, interpreter: "xstate" });

const MANY = 1_000_000;

function contender(name: string, variant: KernelVariant): Contender {
  return { name, version: versionOf(), equip: (setup) => equip(setup, variant) };
}

function versionOf(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return `toolkernel ${manifest.version}`;
}

function equip({ tools, cap }: BenchSetup, variant: KernelVariant): () => Host {
  const options: ToolSessionOptions = {
    tools: tools.map(toolOf),
    interpreter: variant.interpreter,
    // Raised where a workload needs it; every protection stays on, exact repeats included.
    limits: {
      maxToolCallsPerTurn: MANY,
      maxToolCalls: MANY * 1_000,
      maxConcurrentTools: cap,
      maxArgumentCharacters: 2_000_000,
    },
    ...(variant.hasHooks && { hooks: HOOKS }),
  };
  return () => open(options, variant.isWatched);
}

function open(options: ToolSessionOptions, isWatched: boolean): Host {
  const session = createToolSession(options);
  let seen = 0;
  return {
    respond: (calls, signal) => {
      const batch = session.execute(calls, { signal });
      if (isWatched) batch.subscribe(({ seq }) => (seen = Math.max(seen, seq)));
      return batch.result;
    },
    answers: (results) => answersOf(results as BatchResult), // what `execute` has given
    converse: (callsOf) => converse(options, callsOf, isWatched),
  };
}

const HOOKS: SessionHooks = {
  rewriteToolCall: () => undefined,
  authorizeToolCall: () => undefined,
};

function toolOf({ name, schema, kind, key, execute }: BenchTool): AnyTool {
  return defineTool({
    name,
    description: name,
    // A schema of the bench is a JSON object; its interface only has no index signature.
    inputSchema: schema as unknown as { readonly type: "object" },
    risk: kind === "read" ? "readOnly" : "nonIdempotentWrite",
    ...(kind === "keyed" && { executionMode: "parallel" as const }),
    ...(key !== undefined && { conflictKey: (args: object) => key(args as BenchArguments) }),
    execute: (args: object, context) => execute(args as BenchArguments, () => context.signal),
  });
}

function answersOf({ messages }: BatchResult): BenchAnswer[] {
  return messages.flatMap((message) =>
    message.role === "toolResult"
      ? [{ id: message.callId, text: textOf(message.content), isError: message.isError }]
      : [],
  );
}

function textOf(content: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return content.map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("");
}

async function converse(
  options: ToolSessionOptions,
  callsOf: (turn: number) => readonly BenchCall[],
  isWatched: boolean,
): Promise<void> {
  const agent = new Agent({
    ...options,
    limits: { ...options.limits, maxTurns: 10_000, maxMessages: 5_000_000, maxTotalTokens: 1_000_000_000 },
    model: { generate: async ({ turn }) => responseOf(callsOf(turn)) },
  });
  const run = agent.run("Go on.");
  let seen = 0;
  if (isWatched) run.subscribe(({ seq }) => (seen = Math.max(seen, seq)));
  const { status, error } = await run.result;
  if (status !== "completed") throw error ?? new Error(`the run ended ${status}`);
}

function responseOf(calls: readonly BenchCall[]): ModelResponse {
  return {
    content: calls.map(({ id, name, arguments: text }) => ({ type: "toolCall" as const, id, name, arguments: text })),
    stopReason: calls.length === 0 ? "stop" : "toolUse",
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  };
}
