import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

function completion(message: object, finish_reason: string): object {
  const choice = { index: 0, finish_reason, message: { role: "assistant", content: null, refusal: null, ...message } };
  return { id: "chatcmpl_1", object: "chat.completion", created: 0, model: "gpt-5", choices: [choice] };
}

const RESPONSES = [
  completion(
    {
      tool_calls: CALLS.map(({ id, name, arguments: args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      })),
    },
    "tool_calls",
  ),
  completion({ content: ANSWER }, "stop"),
];

describe("an OpenAI client as host", () => {
  it("before: two takes at once lose one", async () => {
    const client = new OpenAI({ apiKey: "none", fetch: recordedFetch(RESPONSES).fetch });
    const stock = createStock({ apples: 3 });
    expect(await before.serve(client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  it("C01: after, both count, and the model sees each result", async () => {
    const network = recordedFetch(RESPONSES);
    const client = new OpenAI({ apiKey: "none", fetch: network.fetch });
    const stock = createStock({ apples: 3 });
    expect(await after.serve(client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(network.sent[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "tool", tool_call_id: "call_2", content: "1" },
    ]);
    expect(network.sent[0]?.tools).toEqual([
      {
        type: "function",
        function: {
          name: "count",
          description: "Counts an item.",
          parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
        },
      },
      { type: "function", function: expect.objectContaining({ name: "take" }) },
    ]);
  });
});
