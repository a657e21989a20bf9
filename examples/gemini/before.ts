import type { Content, GoogleGenAI } from "@google/genai";
import type { Stock } from "../support/stock.ts";

const parametersJsonSchema = { type: "object", properties: { item: { type: "string" } }, required: ["item"] };
const tools = [
  {
    functionDeclarations: [
      { name: "count", description: "Counts an item.", parametersJsonSchema },
      { name: "take", description: "Takes one of an item.", parametersJsonSchema },
    ],
  },
];

/** Answers a customer, with tools on the shop's stock. */
export async function serve(client: GoogleGenAI, stock: Stock, prompt: string): Promise<string> {
  const contents: Content[] = [{ role: "user", parts: [{ text: prompt }] }];
  for (;;) {
    const response = await client.models.generateContent({ model: "gemini-3-pro", contents, config: { tools } });
    const content = response.candidates?.[0]?.content;
    if (content === undefined) throw new Error("The model gave no answer.");
    contents.push(content);
    const calls = response.functionCalls ?? [];
    if (calls.length === 0) return response.text ?? "";
    const results = calls.map(async ({ name, args }) => {
      const item = String(args?.item);
      const left = name === "take" ? await stock.take(item) : await stock.count(item);
      return { functionResponse: { name: name ?? "", response: { output: left } } };
    });
    contents.push({ role: "user", parts: await Promise.all(results) });
  }
}
