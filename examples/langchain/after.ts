import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessageLike, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createToolSession } from "toolkernel";
import { callsFromLangChain, fromLangChainTools, toLangChainMessages } from "toolkernel/langchain";
import { z } from "zod";
import type { Stock } from "../support/stock.ts";

const schema = z.object({ item: z.string() });
const toolsOf = (stock: Stock) => [
  tool(({ item }) => stock.count(item), { name: "count", description: "Counts an item.", schema }),
  tool(({ item }) => stock.take(item), { name: "take", description: "Takes one of an item.", schema }),
];

/** Answers a customer, with tools on the shop's stock. */
export async function serve(model: BaseChatModel, stock: Stock, prompt: string): Promise<string> {
  const tools = toolsOf(stock);
  const take = { executionMode: "parallel", conflictKey: ({ item }: { item?: unknown }) => String(item) } as const;
  await using session = createToolSession({ tools: fromLangChainTools(tools, { count: { risk: "readOnly" }, take }) });
  const messages: BaseMessageLike[] = [new HumanMessage(prompt)];
  for (;;) {
    const message = await model.invoke(messages, { tools } as object);
    messages.push(message);
    const response = callsFromLangChain(message);
    if (response.calls.length === 0) return message.text;
    const batch = await session.execute(response).result;
    messages.push(...toLangChainMessages(batch));
    if (batch.closed) return "I could not finish this.";
  }
}
