import type { Message, ModelRequest } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, DONE, HELLO } from "../support/ai-sdk-model-scene.ts";
import { type FakeModel, streamingModel } from "./wires/language-models.ts";

const TOOL = { name: "read", description: "Reads \ud83d", inputSchema: { type: "object" } };

async function promptFor(model: FakeModel, request: Partial<ModelRequest>): Promise<unknown> {
  await ask(model, request);
  return model.asked[0]?.prompt;
}

describe("fromAiSdkModel: prompts", () => {
  const REQUEST: Partial<ModelRequest> = {
    systemPrompt: "Be brief. \ud83d",
    tools: [TOOL],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", mediaType: "image/png", data: "aW1n" },
        ],
      },
      {
        role: "assistant",
        stopReason: "toolUse",
        content: [
          { type: "reasoning", text: "Hm.", providerData: { providerMetadata: { anthropic: { signature: "c2ln" } } } },
          { type: "text", text: "" },
          {
            type: "toolCall",
            id: "call_1",
            name: "read",
            arguments: '{"path":"a"}',
            providerData: { providerMetadata: { google: { thoughtSignature: "dA==" } } },
          },
          { type: "toolCall", id: "call_2", name: "read", arguments: '{"path' },
        ],
      },
      {
        role: "toolResult",
        callId: "call_1",
        toolName: "read",
        callIndex: 0,
        content: [
          { type: "text", text: "text" },
          { type: "file", mediaType: "application/pdf", data: "cGRm", name: "a.pdf" },
        ],
        isError: false,
        outcomeUncertain: false,
        terminate: false,
        providerData: { providerMetadata: { google: { thoughtSignature: "dA==" } } },
      },
      {
        role: "toolResult",
        callId: "call_2",
        toolName: "read",
        callIndex: 1,
        content: [{ type: "text", text: "not JSON" }],
        isError: true,
        outcomeUncertain: false,
        terminate: false,
      },
      { role: "policy", policy: "agent_policy", content: "Think again.", audience: "internal" },
    ],
  };

  function expectedPrompt(image: unknown, file: object): object[] {
    const googleOptions = { providerOptions: { google: { thoughtSignature: "dA==" } } };
    return [
      { role: "system", content: "Be brief. \ufffd" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "file", mediaType: "image/png", data: image },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } },
          { type: "tool-call", toolCallId: "call_1", toolName: "read", input: { path: "a" }, ...googleOptions },
          { type: "tool-call", toolCallId: "call_2", toolName: "read", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "read",
            output: { type: "content", value: [{ type: "text", text: "text" }, file] },
            ...googleOptions,
          },
          {
            type: "tool-result",
            toolCallId: "call_2",
            toolName: "read",
            output: { type: "error-text", value: "not JSON" },
          },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Think again." }] },
    ];
  }

  it.each([
    ["v2", "aW1n", { type: "media", data: "cGRm", mediaType: "application/pdf" }],
    ["v3", "aW1n", { type: "file-data", data: "cGRm", mediaType: "application/pdf", filename: "a.pdf" }],
    [
      "v4",
      { type: "data", data: "aW1n" },
      { type: "file", data: { type: "data", data: "cGRm" }, mediaType: "application/pdf", filename: "a.pdf" },
    ],
  ] as const)("a transcript is laid out as specification %s wants it", async (version, image, file) => {
    const model = streamingModel([[DONE]], version);
    expect(await promptFor(model, REQUEST)).toEqual(expectedPrompt(image, file));
  });

  it("tools are offered with their JSON Schema, in well-formed text; none means no tools at all", async () => {
    const model = streamingModel([[DONE], [DONE]]);
    await ask(model, { tools: [TOOL] });
    await ask(model);
    expect(model.asked[0]).toMatchObject({
      tools: [{ type: "function", name: "read", description: "Reads \ufffd", inputSchema: { type: "object" } }],
      toolChoice: { type: "auto" },
    });
    expect(Object.keys(model.asked[1] ?? {})).toEqual(["prompt", "abortSignal"]);
  });

  it("what the kernel has no part for goes back where it stood: the provider's own tools, files, a text's metadata", async () => {
    const parts = [
      { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: { hits: 2 } },
      { type: "source", sourceType: "url", id: "u", url: "https://example.org" },
      { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "Found." },
      { type: "text-end", id: "0", providerMetadata: { openai: { itemId: "msg_1" } } },
      DONE,
    ];
    const model = streamingModel([parts, [DONE]]);
    const { response, deltas } = await ask(model);
    expect(response.content.filter((part) => part.type === "text")).toEqual([{ type: "text", text: "Found." }]);
    expect(response.stopReason).toBe("stop");
    expect(deltas).toEqual([{ type: "text", text: "Found." }]);
    // A transcript may have been stored in between.
    const assistant = JSON.parse(JSON.stringify({ role: "assistant", ...response })) as Message;
    await ask(model, { messages: [HELLO, assistant, HELLO] });
    expect(model.asked[1]?.prompt).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: { q: "x" }, providerExecuted: true },
          {
            type: "tool-result",
            toolCallId: "s1",
            toolName: "web_search",
            output: { type: "json", value: { hits: 2 } },
          },
          { type: "file", mediaType: "image/png", data: "AQI=" },
          { type: "text", text: "Found.", providerOptions: { openai: { itemId: "msg_1" } } },
        ],
      },
      { role: "user" },
    ]);
  });
});
