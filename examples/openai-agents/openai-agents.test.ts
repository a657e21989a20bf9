import { type Model, type ModelResponse, setTracingDisabled, Usage } from "@openai/agents-core";
import { scriptedModel } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

setTracingDisabled(true);

/** A model of the Agents SDK that gives its responses one after another. */
function agentsModel(): Model {
  const calls: ModelResponse["output"] = CALLS.map(({ id, name, arguments: args }) => ({
    type: "function_call",
    callId: id,
    name,
    status: "completed",
    arguments: JSON.stringify(args),
  }));
  const answer: ModelResponse["output"] = [
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: ANSWER }] },
  ];
  const outputs = [calls, answer];
  return {
    getResponse: async () => ({ usage: new Usage(), output: outputs.shift() ?? [] }),
    getStreamedResponse: () => {
      throw new Error("This model does not stream.");
    },
  };
}

describe("tools of the OpenAI Agents SDK", () => {
  it("before: two takes at once lose one", async () => {
    const stock = createStock({ apples: 3 });
    expect(await before.serve(agentsModel(), stock, PROMPT, () => true)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  const kernelModel = () =>
    scriptedModel([
      { content: CALLS.map((call) => ({ type: "toolCall", ...call })), stopReason: "toolUse" },
      { content: [{ type: "text", text: ANSWER }], stopReason: "stop" },
    ]);

  it("C01: after, both count", async () => {
    const stock = createStock({ apples: 3 });
    expect(await after.serve(kernelModel(), stock, PROMPT, () => true)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
  });

  it("C25: of two that ask, the one that is confirmed runs", async () => {
    const answers = [false, true];
    const stock = createStock({ apples: 3 });
    expect(await after.serve(kernelModel(), stock, PROMPT, () => answers.shift() ?? false)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });
});
