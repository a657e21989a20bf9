import { createToolSession, type JsonObject } from "toolkernel";
import { fromAiSdkTools } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import { runOne } from "./wires/run-one.ts";

const OPEN = { type: "object" };

describe("fromAiSdkTools: toModelOutput", () => {
  const output = { rows: 3, secret: "s" };

  async function shown(toModelOutput: unknown): Promise<object> {
    const tools = fromAiSdkTools({ query: { inputSchema: OPEN, execute: () => output, toModelOutput } });
    const { content, details, isError } = (await runOne(tools, "query", { q: 1 })).result;
    return { content, details, isError };
  }

  it("written for version 6 it is told call, input and output", async () => {
    const toModelOutput = (given: { toolCallId: string; input: JsonObject; output: typeof output }) => ({
      type: "text",
      value: `${given.toolCallId} ${given.input.q} ${given.output.rows}`,
    });
    expect(await shown(toModelOutput)).toEqual({
      content: [{ type: "text", text: "call_1 1 3" }],
      details: output,
      isError: false,
    });
  });

  it.each([
    ["by its fields", (given: typeof output) => ({ type: "json", value: { rows: given.rows } })],
    ["as a whole", (given: typeof output) => ({ type: "json", value: JSON.parse(JSON.stringify(given, ["rows"])) })],
    [
      "by what would throw on anything else",
      (given: typeof output) => ({ type: "json", value: { rows: given.rows.valueOf() } }),
    ],
  ])("written for version 5 it is told the output, which it reads %s", async (_, toModelOutput) => {
    expect(await shown(toModelOutput)).toEqual({
      content: [{ type: "json", value: { rows: 3 } }],
      details: output,
      isError: false,
    });
  });

  it("content parts become parts, of all versions", async () => {
    const value = [
      { type: "text", text: "see" },
      { type: "media", data: "aW1n", mediaType: "image/png" },
      { type: "file-data", data: "cGRm", mediaType: "application/pdf", filename: "a.pdf" },
      { type: "file-url", url: "https://example.org/a.csv", mediaType: "text/csv" },
      { type: "file", mediaType: "audio/wav", data: { type: "data", data: new Uint8Array([1, 2]) } },
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "inline" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a.png") } },
      { type: "custom", providerOptions: { some: {} } },
    ];
    expect(await shown(() => ({ type: "content", value }))).toMatchObject({
      content: [
        { type: "text", text: "see" },
        { type: "image", mediaType: "image/png", data: "aW1n" },
        { type: "file", mediaType: "application/pdf", data: "cGRm", name: "a.pdf" },
        { type: "resource", uri: "https://example.org/a.csv", mediaType: "text/csv" },
        { type: "audio", mediaType: "audio/wav", data: "AQI=" },
        { type: "text", text: "inline" },
        { type: "resource", uri: "https://example.org/a.png", mediaType: "image/png" },
        { type: "json", value: { type: "custom", providerOptions: { some: {} } } },
      ],
    });
  });

  it("an output in MCP's shape that says it failed is an error, whatever is shown of it", async () => {
    const answer = { content: [{ type: "text", text: "no such file" }], isError: true };
    const toModelOutput = (given: { output: typeof answer }) => ({ type: "content", value: given.output.content });
    const tools = fromAiSdkTools({ find: { inputSchema: OPEN, execute: () => answer, toModelOutput } });
    expect((await runOne(tools, "find", {})).result).toMatchObject({
      content: [{ type: "text", text: "no such file" }],
      isError: true,
    });
  });

  it("an error output is an error, a denied one of category authorization", async () => {
    expect(await shown(() => ({ type: "error-text", value: "no" }))).toMatchObject({ isError: true });
    const tools = fromAiSdkTools({
      deny: {
        inputSchema: OPEN,
        execute: () => 1,
        toModelOutput: () => ({ type: "execution-denied", reason: "not you" }),
      },
    });
    expect((await runOne(tools, "deny", {})).result).toMatchObject({
      content: [{ type: "text", text: "not you" }],
      isError: true,
      failureCategory: "authorization",
    });
  });

  it.each([
    ["throws", () => Promise.reject(new Error("broken"))],
    ["answers nonsense", () => ({ type: "odd" })],
  ])("PREP-13: one that %s withholds the result, not the fact", async (_, toModelOutput) => {
    const tools = fromAiSdkTools({ pay: { inputSchema: OPEN, execute: () => output, toModelOutput } });
    const settled = await runOne(tools, "pay", {});
    expect(settled).toMatchObject({
      result: { isError: true, failureCategory: "internal", outcomeUncertain: false, details: output },
    });
    expect(JSON.stringify(settled.result.content)).toContain("Do not repeat the call");
  });
});

describe("fromAiSdkTools: approval", () => {
  const args = { cents: 500 };

  async function asked(needsApproval: unknown): Promise<{ readonly ran: number; readonly asks: readonly object[] }> {
    let ran = 0;
    const tools = fromAiSdkTools({ pay: { inputSchema: OPEN, needsApproval, execute: () => ++ran } });
    await using session = createToolSession({ tools });
    const response = [{ id: "call_1", name: "pay", arguments: args }];
    const { approvals } = await session.execute(response).result;
    if (approvals !== undefined) {
      await session.execute(response, { blockOthers: true, turn: 1 }).result;
    }
    return { ran, asks: (approvals ?? []).map(({ ask }) => ask) };
  }

  const ASK = { reason: "The tool itself asks for approval.", framework: "ai-sdk", tool: "pay" };

  it.each([
    ["true", true],
    ["a function that says yes to these arguments", (input: typeof args) => input.cents > 100],
    ["a function that says yes later", async () => true],
    ["a function that fails later", () => Promise.reject(new Error("no answer"))],
  ])("APP-1: needsApproval as %s asks, and nothing runs unasked", async (_, needsApproval) => {
    expect(await asked(needsApproval)).toEqual({ ran: 0, asks: [ASK] });
  });

  it.each([
    ["absent", undefined],
    ["false", false],
    ["a function that says no to these arguments", (input: typeof args) => input.cents > 1_000],
    ["a function that says no later", async () => false],
  ])("needsApproval as %s does not ask", async (_, needsApproval) => {
    expect(await asked(needsApproval)).toEqual({ ran: 1, asks: [] });
  });

  it("APP-3: an approved call runs with its arguments", async () => {
    const seen: unknown[] = [];
    const tools = fromAiSdkTools({
      pay: { inputSchema: OPEN, needsApproval: true, execute: (input: unknown) => void seen.push(input) },
    });
    await using session = createToolSession({ tools });
    const response = [{ id: "call_1", name: "pay", arguments: args }];
    const { approvals } = await session.execute(response).result;
    const granted = Object.fromEntries((approvals ?? []).map(({ approvalId }) => [approvalId, true as const]));
    const { settled } = await session.execute(response, { approvals: granted, turn: 1 }).result;
    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded"]);
    expect(seen).toEqual([args]);
  });
});
