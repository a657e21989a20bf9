/**
 * LangGraph by its `ToolNode`, without a graph around it for one response; a conversation is the usual
 * graph of a model node and a tool node. Arguments are validated by a zod schema, its usual way.
 */
import { AIMessage, type BaseMessage, HumanMessage, isToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSetup, BenchTool, Contender, Host } from "../contender.ts";
import { versionOf } from "./version-of.ts";
import { zodOf } from "./zod-of.ts";

/** See the file header. */
export const langGraph: Contender = { name: "LangGraph", version: versionOf("@langchain/langgraph"), equip };

function equip({ tools }: BenchSetup): () => Host {
  const node = new ToolNode(tools.map(toolOf));
  return () => ({
    respond: async (calls, signal) =>
      node.invoke([messageOf(calls)], signal === undefined ? undefined : { signal }) as Promise<unknown>,
    answers: (results) => answersOf(results as BaseMessage[]), // a node that is given messages gives messages
    converse: async (callsOf) => converse(node, callsOf),
  });
}

function toolOf({ name, schema, execute }: BenchTool): StructuredToolInterface {
  return tool((args, config) => execute(args as BenchArguments, () => config?.signal), {
    name,
    description: name,
    schema: zodOf(schema),
  });
}

/** A provider of LangChain parses the text of arguments; so does this. */
function messageOf(calls: readonly BenchCall[]): AIMessage {
  return new AIMessage({
    content: "",
    tool_calls: calls.map(({ id, name, arguments: text }) => ({
      type: "tool_call",
      id,
      name,
      args: JSON.parse(text) as Record<string, unknown>, // the schema says the rest
    })),
  });
}

async function converse(node: ToolNode, callsOf: (turn: number) => readonly BenchCall[]): Promise<void> {
  let turn = 0;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", () => ({ messages: [messageOf(callsOf(++turn))] }))
    .addNode("tools", node)
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => {
      const last = messages.at(-1) as AIMessage; // the model's
      return (last.tool_calls?.length ?? 0) > 0 ? "tools" : END;
    })
    .addEdge("tools", "model")
    .compile();
  await graph.invoke({ messages: [new HumanMessage("Go on.")] }, { recursionLimit: 1_000_000 });
}

function answersOf(messages: readonly BaseMessage[]): BenchAnswer[] {
  return messages.flatMap((message) =>
    isToolMessage(message)
      ? [{ id: message.tool_call_id, text: String(message.content), isError: message.status === "error" }]
      : [],
  );
}
