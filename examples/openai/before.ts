import type OpenAI from "openai";
import type { Stock } from "../support/stock.ts";

const parameters = { type: "object", properties: { item: { type: "string" } }, required: ["item"] };
const tools: OpenAI.ChatCompletionTool[] = [
  { type: "function", function: { name: "count", description: "Counts an item.", parameters } },
  { type: "function", function: { name: "take", description: "Takes one of an item.", parameters } },
];

/** Answers a customer, with tools on the shop's stock. */
export async function serve(client: OpenAI, stock: Stock, prompt: string): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
  for (;;) {
    const completion = await client.chat.completions.create({ model: "gpt-5", messages, tools });
    const [choice] = completion.choices;
    if (choice === undefined) throw new Error("The model gave no answer.");
    messages.push(choice.message);
    const calls = choice.message.tool_calls ?? [];
    if (calls.length === 0) return choice.message.content ?? "";
    const results = calls.map(async (call) => {
      if (call.type !== "function") throw new Error("No such tool.");
      const { item } = JSON.parse(call.function.arguments);
      const left = call.function.name === "take" ? await stock.take(item) : await stock.count(item);
      return { role: "tool" as const, tool_call_id: call.id, content: String(left) };
    });
    messages.push(...(await Promise.all(results)));
  }
}
