/**
 * The OpenAI Agents SDK by `Runner.run` over a model that answers at once, tracing off. One response is one
 * turn: the agent stops on the first tools. Arguments are validated by a zod schema, its usual way.
 */
import { Agent, type Model, type ModelResponse, type RunItem, Runner, type Tool, tool, Usage } from "@openai/agents";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSetup, BenchTool, Contender, Host } from "../contender.ts";
import { versionOf } from "./version-of.ts";
import { zodOf } from "./zod-of.ts";

/** Everything of a response at once: the default. */
export const openaiAgents: Contender = {
  name: "@openai/agents",
  version: versionOf("@openai/agents"),
  equip: (setup) => equip(setup, false),
};
/** With its bound on how many functions run at once. */
export const openaiAgentsCapped: Contender = {
  name: "@openai/agents, capped",
  version: versionOf("@openai/agents"),
  equip: (setup) => equip(setup, true),
};

interface RunResult {
  readonly newItems: readonly RunItem[];
}

function equip({ tools, cap }: BenchSetup, isCapped: boolean): () => Host {
  const runner = new Runner({
    tracingDisabled: true,
    ...(isCapped && { toolExecution: { maxFunctionToolConcurrency: cap } }),
  });
  const agentTools = tools.map(toolOf);
  return () => open(runner, agentTools);
}

function open(runner: Runner, agentTools: Tool[]): Host {
  const run = (
    callsOf: (turn: number) => readonly BenchCall[],
    isOneTurn: boolean,
    signal?: AbortSignal,
  ): Promise<RunResult> => {
    const agent = new Agent({
      name: "bench",
      tools: agentTools,
      model: modelOf(callsOf),
      ...(isOneTurn && { toolUseBehavior: "stop_on_first_tool" as const }),
    });
    return runner.run(agent, "Go on.", { maxTurns: 100_000, ...(signal !== undefined && { signal }) });
  };
  return {
    respond: (calls, signal) => run(() => calls, true, signal),
    answers: (results) => answersOf(results as RunResult), // what the runner has given
    converse: async (callsOf) => {
      await run(callsOf, false);
    },
  };
}

function toolOf({ name, schema, execute }: BenchTool): Tool {
  return tool({
    name,
    description: name,
    parameters: zodOf(schema),
    execute: (args, _context, details) => execute(args as BenchArguments, () => details?.signal),
  });
}

function modelOf(callsOf: (turn: number) => readonly BenchCall[]): Model {
  let turn = 0;
  return {
    getResponse: async (): Promise<ModelResponse> => {
      turn += 1;
      const calls = callsOf(turn);
      return { usage: new Usage(), output: calls.length === 0 ? [FINAL] : calls.map(outputOf) };
    },
    // The bench does not stream.
    getStreamedResponse: () => {
      throw new Error("the bench does not stream");
    },
  };
}

type Output = ModelResponse["output"][number];

const FINAL: Output = {
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Done." }],
};

function outputOf({ id, name, arguments: text }: BenchCall): Output {
  return { type: "function_call", callId: id, name, arguments: text, status: "completed" };
}

function answersOf({ newItems }: RunResult): BenchAnswer[] {
  return newItems.flatMap((item) => {
    if (item.type !== "tool_call_output_item" || item.rawItem.type !== "function_call_result") return [];
    const text = String(item.output);
    return [{ id: item.rawItem.callId, text, isError: text.startsWith("An error occurred") }];
  });
}
