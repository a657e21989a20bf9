import type { Content, GoogleGenAI } from "@google/genai";
import { createToolSession, defineTool, jsonSchema } from "toolkernel";
import { callsFromGemini, toGeminiContents, toGeminiTools } from "toolkernel/gemini";
import type { Stock } from "../support/stock.ts";

const parametersJsonSchema = { type: "object", properties: { item: { type: "string" } }, required: ["item"] };
const shared = {
  inputSchema: jsonSchema<{ item: string }>(parametersJsonSchema),
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
export async function serve(client: GoogleGenAI, stock: Stock, prompt: string): Promise<string> {
  const contents: Content[] = [{ role: "user", parts: [{ text: prompt }] }];
  await using session = createToolSession({ tools: toolsOf(stock) });
  const tools = toGeminiTools(toolsOf(stock));
  for (;;) {
    const response = await client.models.generateContent({ model: "gemini-3-pro", contents, config: { tools } });
    const content = response.candidates?.[0]?.content;
    if (content === undefined) throw new Error("The model gave no answer.");
    contents.push(content);
    const draft = callsFromGemini(response);
    if (draft.calls.length === 0) return response.text ?? "";
    const batch = await session.execute(draft).result;
    contents.push(...toGeminiContents(batch));
    if (batch.closed) return "I could not finish this.";
  }
}
