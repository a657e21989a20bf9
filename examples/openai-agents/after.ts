import { tool } from "@openai/agents-core";
import { Agent, type ApprovalDecision, type ModelProvider } from "toolkernel";
import { fromOpenAIAgentsTools } from "toolkernel/openai";
import { z } from "zod";
import type { Stock } from "../support/stock.ts";

const parameters = z.object({ item: z.string() });
const toolsOf = (stock: Stock) => [
  tool({ name: "count", description: "Counts an item.", parameters, execute: ({ item }) => stock.count(item) }),
  tool({
    name: "take",
    description: "Takes one of an item.",
    parameters,
    execute: ({ item }) => stock.take(item),
    needsApproval: true,
    errorFunction: null,
  }),
];

/** Answers a customer, with tools on the shop's stock; the shopkeeper confirms what is taken. */
export async function serve(
  model: ModelProvider,
  stock: Stock,
  prompt: string,
  confirm: () => boolean,
): Promise<string> {
  const take = { executionMode: "parallel", conflictKey: ({ item }: { item?: unknown }) => String(item) } as const;
  const agent = new Agent({
    model,
    tools: fromOpenAIAgentsTools(toolsOf(stock), { count: { risk: "readOnly" }, take }),
  });
  let result = await agent.run(prompt).result;
  while (result.approvals !== undefined) {
    const decide = (): ApprovalDecision => (confirm() ? true : { block: "The shopkeeper said no." });
    const approvals = Object.fromEntries(result.approvals.map(({ approvalId }) => [approvalId, decide()]));
    result = await agent.resume(result.runId, { approvals }).result;
  }
  const last = result.messages.at(-1);
  return last?.role === "assistant" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}
