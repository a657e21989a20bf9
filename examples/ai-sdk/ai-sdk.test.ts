import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

function shopModel(): MockLanguageModelV3 {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return new MockLanguageModelV3({
    doGenerate: [
      {
        content: CALLS.map(({ id, name, arguments: args }) => ({
          type: "tool-call",
          toolCallId: id,
          toolName: name,
          input: JSON.stringify(args),
        })),
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage,
        warnings: [],
      },
      {
        content: [{ type: "text", text: ANSWER }],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings: [],
      },
    ] as never,
  });
}

describe("the AI SDK as host", () => {
  it("before: two takes at once lose one", async () => {
    const stock = createStock({ apples: 3 });
    expect(await before.serve(shopModel(), stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  it("C01: after, both count, and the model sees each result", async () => {
    const stock = createStock({ apples: 3 });
    const model = shopModel();
    expect(await after.serve(model, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call_1", output: { type: "json", value: 2 } },
        { toolCallId: "call_2", output: { type: "json", value: 1 } },
      ],
    });
  });
});
