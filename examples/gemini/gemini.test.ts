import { GoogleGenAI } from "@google/genai";
import { afterEach, describe, expect, it, vi } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { ANSWER, CALLS, PROMPT } from "../support/shop.ts";
import { createStock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

const response = (parts: readonly object[]) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
});

// As the API gives calls: without ids, the first with the signature of the thought behind them.
const RESPONSES = [
  response(
    CALLS.map(({ name, arguments: args }, index) => {
      return { functionCall: { name, args }, ...(index === 0 ? { thoughtSignature: "c2lnbmVk" } : {}) };
    }),
  ),
  response([{ text: ANSWER }]),
];

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A client of the SDK, in front of the recorded responses. */
function connect() {
  const network = recordedFetch(RESPONSES);
  vi.stubGlobal("fetch", network.fetch);
  return { network, client: new GoogleGenAI({ apiKey: "none" }) };
}

describe("a Gemini client as host", () => {
  it("before: two takes at once lose one", async () => {
    const stock = createStock({ apples: 3 });
    expect(await before.serve(connect().client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(2);
  });

  it("C01: after, both count, and the model sees each result", async () => {
    const { network, client } = connect();
    const stock = createStock({ apples: 3 });
    expect(await after.serve(client, stock, PROMPT)).toBe(ANSWER);
    expect(await stock.count("apples")).toBe(1);
    expect(network.sent[1]?.contents).toEqual([
      { role: "user", parts: [{ text: PROMPT }] },
      {
        role: "model",
        parts: [
          { functionCall: { name: "take", args: { item: "apples" } }, thoughtSignature: "c2lnbmVk" },
          { functionCall: { name: "take", args: { item: "apples" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "take", response: { output: 2 } } },
          { functionResponse: { name: "take", response: { output: 1 } } },
        ],
      },
    ]);
  });
});
