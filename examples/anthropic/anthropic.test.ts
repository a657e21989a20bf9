import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

function message(content: readonly object[], stop_reason: string): object {
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5-5", content, stop_reason, usage };
}

const RESPONSES = [
  message(
    CALLS.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input, caller: { type: "direct" } })),
    "tool_use",
  ),
  message([{ type: "text", text: ANSWER }], "end_turn"),
];

describe("an Anthropic client as host", () => {
  it("before: two takes at once lose one", async () => {
    const client = new Anthropic({ apiKey: "none", fetch: recordedFetch(RESPONSES).fetch });
    const stock = createStock({ apples: 3 });
    expect(await before.serve(client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  it("C01: after, both count, and the model sees each result", async () => {
    const network = recordedFetch(RESPONSES);
    const client = new Anthropic({ apiKey: "none", fetch: network.fetch });
    const stock = createStock({ apples: 3 });
    expect(await after.serve(client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(network.sent[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ caller: { type: "direct" } }, { caller: { type: "direct" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "2" }] },
          { type: "tool_result", tool_use_id: "call_2", content: [{ type: "text", text: "1" }] },
        ],
      },
    ]);
  });
});
