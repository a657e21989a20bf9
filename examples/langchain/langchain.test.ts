import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { ScriptedChatModel } from "../support/shop-chat-model.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

function shopModel(): ScriptedChatModel {
  const tool_calls = CALLS.map(({ id, name, arguments: args }) => ({ type: "tool_call" as const, id, name, args }));
  return new ScriptedChatModel([
    new AIMessage({ content: "", tool_calls, response_metadata: { finish_reason: "tool_calls" } }),
    new AIMessage({ content: ANSWER, response_metadata: { finish_reason: "stop" } }),
  ]);
}

describe("LangChain as host", () => {
  it("before: two takes at once lose one", async () => {
    const stock = createStock({ apples: 3 });
    expect(await before.serve(shopModel(), stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  it("C01: after, both count, and the model sees each result as a tool message", async () => {
    const stock = createStock({ apples: 3 });
    const model = shopModel();
    expect(await after.serve(model, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(model.asked[1]?.map((message) => message.getType())).toEqual(["human", "ai", "tool", "tool"]);
    expect(model.asked[1]?.slice(2)).toMatchObject([
      { tool_call_id: "call_1", name: "take", status: "success", content: "2" },
      { tool_call_id: "call_2", name: "take", status: "success", content: "1" },
    ]);
  });
});
