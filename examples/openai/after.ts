import type OpenAI from "openai";
import { createToolSession, defineTool, jsonSchema } from "toolkernel";
import { callsFromChat, toChatMessages, toChatTools } from "toolkernel/openai";
import type { Stock } from "../support/stock.ts";

const parameters = { type: "object", properties: { item: { type: "string" } }, required: ["item"] };
const shared = {
  inputSchema: jsonSchema<{ item: string }>(parameters),
  conflictKey: ({ item }: { item: string }) => item,
};
const toolsOf = (stock: Stock) => [
  defineTool({
    ...shared,
    name: "count",
    description: "Counts an item.",
    risk: "readOnly",
    execute: ({ item }) => stock.count(item),
  }),
  defineTool({
    ...shared,
    name: "take",
    description: "Takes one of an item.",
    executionMode: "parallel",
    execute: ({ item }) => stock.take(item),
  }),
];

/** Answers a customer, with tools on the shop's stock. */
export async function serve(client: OpenAI, stock: Stock, prompt: string): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
  await using session = createToolSession({ tools: toolsOf(stock) });
  const tools = toChatTools(toolsOf(stock));
  for (;;) {
    const completion = await client.chat.completions.create({ model: "gpt-5", messages, tools });
    const [choice] = completion.choices;
    if (choice === undefined) throw new Error("The model gave no answer.");
    messages.push(choice.message);
    const response = callsFromChat(completion);
    if (response.calls.length === 0) return choice.message.content ?? "";
    const batch = await session.execute(response).result;
    messages.push(...toChatMessages(batch));
    if (batch.closed) return "I could not finish this.";
  }
}
