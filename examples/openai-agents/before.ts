import { Agent, type Model, run, tool } from "@openai/agents-core";
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
export async function serve(model: Model, stock: Stock, prompt: string, confirm: () => boolean): Promise<string> {
  const agent = new Agent({ name: "clerk", model, tools: toolsOf(stock) });
  let result = await run(agent, prompt);
  while (result.interruptions.length > 0) {
    for (const asked of result.interruptions) {
      if (confirm()) result.state.approve(asked);
      else result.state.reject(asked);
    }
    result = await run(agent, result.state);
  }
  return String(result.finalOutput);
}
