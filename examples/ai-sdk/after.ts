import { generateText, type LanguageModel, stepCountIs, tool } from "ai";
import { createToolSession } from "toolkernel";
import { fromAiSdkTools, toAiSdk } from "toolkernel/ai-sdk";
import { z } from "zod";
import type { Stock } from "../support/stock.ts";

/** Answers a customer, with tools on the shop's stock. */
export async function serve(model: Exclude<LanguageModel, string>, stock: Stock, prompt: string): Promise<string> {
  const inputSchema = z.object({ item: z.string() });
  const tools = {
    count: tool({ description: "Counts an item.", inputSchema, execute: ({ item }) => stock.count(item) }),
    take: tool({ description: "Takes one of an item.", inputSchema, execute: ({ item }) => stock.take(item) }),
  };
  const session = createToolSession({
    tools: fromAiSdkTools(tools, {
      count: { risk: "readOnly" },
      take: { executionMode: "parallel", conflictKey: ({ item }) => item },
    }),
  });
  const kernel = toAiSdk(session);
  const { text } = await generateText({
    model: kernel.model(model),
    prompt,
    tools: kernel.tools,
    prepareStep: kernel.prepareStep,
    stopWhen: [kernel.stopWhen, stepCountIs(20)],
  });
  await session.close();
  return text;
}
