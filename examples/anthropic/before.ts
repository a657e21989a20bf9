import type Anthropic from "@anthropic-ai/sdk";
import type { Stock } from "../support/stock.ts";

const input_schema = { type: "object" as const, properties: { item: { type: "string" } }, required: ["item"] };
const tools: Anthropic.Tool[] = [
  { name: "count", description: "Counts an item.", input_schema },
  { name: "take", description: "Takes one of an item.", input_schema },
];

/** Answers a customer, with tools on the shop's stock. */
export async function serve(client: Anthropic, stock: Stock, prompt: string): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: prompt }];
  for (;;) {
    const message = await client.messages.create({ model: "claude-sonnet-5-5", max_tokens: 1_024, messages, tools });
    messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const results = calls.map(async ({ id, name, input }) => {
      const { item } = input as { item: string };
      const left = name === "take" ? await stock.take(item) : await stock.count(item);
      return { type: "tool_result" as const, tool_use_id: id, content: String(left) };
    });
    messages.push({ role: "user", content: await Promise.all(results) });
  }
}
