import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
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
  const messages: BaseMessage[] = [new HumanMessage(prompt)];
  for (;;) {
    const message = await model.invoke(messages, { tools } as object);
    messages.push(message);
    const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
    if (calls.length === 0) return message.text;
    const results = calls.flatMap((call) =>
      tools.filter(({ name }) => name === call.name).map((own) => own.invoke(call)),
    );
    messages.push(...(await Promise.all(results)));
  }
}
