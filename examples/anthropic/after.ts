import type Anthropic from "@anthropic-ai/sdk";
import { createToolSession, defineTool, jsonSchema } from "toolkernel";
import { callsFromAnthropic, toAnthropicMessages, toAnthropicTools } from "toolkernel/anthropic";
import type { Stock } from "../support/stock.ts";

const input_schema = { type: "object" as const, properties: { item: { type: "string" } }, required: ["item"] };
const shared = {
  inputSchema: jsonSchema<{ item: string }>(input_schema),
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
export async function serve(client: Anthropic, stock: Stock, prompt: string): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: prompt }];
  await using session = createToolSession({ tools: toolsOf(stock) });
  const tools = toAnthropicTools(toolsOf(stock));
  for (;;) {
    const message = await client.messages.create({ model: "claude-sonnet-5-5", max_tokens: 1_024, messages, tools });
    messages.push({ role: "assistant", content: message.content });
    const response = callsFromAnthropic(message);
    if (response.calls.length === 0)
      return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const batch = await session.execute(response).result;
    messages.push(...toAnthropicMessages(batch));
    if (batch.closed) return "I could not finish this.";
  }
}
