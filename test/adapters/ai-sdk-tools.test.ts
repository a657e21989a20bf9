import { createToolSession, type JsonObject, type KernelEvent } from "toolkernel";
import { fromAiSdkTools } from "toolkernel/ai-sdk";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { runOne } from "./wires/run-one.ts";

const AI_SDK_SCHEMA = Symbol.for("vercel.ai.schema");
const OPEN = { type: "object" };

/** A schema in the AI SDK's own form, as its `jsonSchema()` makes one. */
function aiSdkSchema(jsonSchema: unknown, validate?: (value: unknown) => unknown): object {
  return { [AI_SDK_SCHEMA]: true, jsonSchema, validate };
}

function invalidOptions(message: RegExp): object {
  return expect.objectContaining({ code: "INVALID_OPTIONS", message: expect.stringMatching(message) });
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("fromAiSdkTools: what is imported", () => {
  it("tools come in the set's order, with the policies the host gives", () => {
    const conflictKey = (args: { path: string }) => args.path;
    const tools = fromAiSdkTools(
      {
        read: {
          description: "Reads",
          inputSchema: z.object({ path: z.string() }),
          execute: (_: { path: string }) => "",
        },
        write: { inputSchema: z.object({ path: z.string() }), execute: (_: { path: string }) => "" },
      },
      { read: { risk: "readOnly" }, write: { conflictKey, timeoutMs: 5_000 } },
    );
    expect(tools).toMatchObject([
      { name: "read", description: "Reads", risk: "readOnly", origin: "imported" },
      { name: "write", description: "", conflictKey, timeoutMs: 5_000, origin: "imported" },
    ]);
    expect(tools[1]?.risk).toBeUndefined();
  });

  it("a policy of an unknown tool, or with an unknown field, is refused by name", () => {
    const set = { read: { inputSchema: OPEN, execute: () => "" } };
    const policies = { reed: { risk: "readOnly" } } as object;
    expect(thrownBy(() => fromAiSdkTools(set, policies))).toEqual(invalidOptions(/"reed".*it imports read/));
    const misspelt = { read: { risks: "readOnly" } } as object;
    expect(thrownBy(() => fromAiSdkTools(set, misspelt))).toEqual(invalidOptions(/no field "risks"/));
    expect(thrownBy(() => fromAiSdkTools(set, { constructor: {} } as object))).toEqual(invalidOptions(/"constructor"/));
  });

  it("tools that the provider runs are left out; one that nobody runs is refused", () => {
    const set = {
      search: { type: "provider", id: "openai.web_search", args: {} },
      older: { type: "provider-defined", id: "anthropic.web_search", args: {}, inputSchema: OPEN },
      bash: { type: "provider-defined", id: "anthropic.bash", args: {}, inputSchema: OPEN, execute: () => "ran" },
    };
    expect(fromAiSdkTools(set).map((tool) => tool.name)).toEqual(["bash"]);
    const client = { type: "provider", isProviderExecuted: false, inputSchema: OPEN };
    expect(thrownBy(() => fromAiSdkTools({ client }))).toEqual(invalidOptions(/"client": it has no execute/));
    expect(thrownBy(() => fromAiSdkTools({ bare: { inputSchema: OPEN } }))).toEqual(invalidOptions(/no execute/));
  });

  it("a description that is a function is refused, since there is no context to ask it with", () => {
    const odd = { description: () => "x", inputSchema: OPEN, execute: () => "" };
    expect(thrownBy(() => fromAiSdkTools({ odd }))).toEqual(invalidOptions(/description is a function/));
  });
});

describe("fromAiSdkTools: schemas", () => {
  it("a Standard Schema validates once, and execute gets its output", async () => {
    const seen: unknown[] = [];
    const inputSchema = z.object({ count: z.string().transform(Number), unit: z.string().default("m") });
    const tools = fromAiSdkTools({ measure: { inputSchema, execute: (input: unknown) => void seen.push(input) } });
    const settled = await runOne(tools, "measure", { count: "3" });
    expect(settled.outcome).toBe("succeeded");
    expect(seen).toEqual([{ count: 3, unit: "m" }]);
  });

  it("the AI SDK's own schema validates by its own function, and refuses before anything runs", async () => {
    const validate = async (value: unknown) =>
      (value as { n?: number }).n === 1
        ? { success: true, value: { n: 100 } }
        : { success: false, error: new Error("n must be 1") };
    const seen: unknown[] = [];
    const tools = fromAiSdkTools({
      count: { inputSchema: aiSdkSchema(OPEN, validate), execute: (input: unknown) => void seen.push(input) },
    });
    expect(await runOne(tools, "count", { n: 1 })).toMatchObject({ outcome: "succeeded" });
    const refused = await runOne(tools, "count", { n: 2 });
    expect(refused).toMatchObject({ outcome: "refused", result: { failureCategory: "invalidArguments" } });
    expect(JSON.stringify(refused.result.content)).toContain("n must be 1");
    expect(seen).toEqual([{ n: 100 }]);
  });

  it("a schema may be lazy, and may validate nothing beyond its JSON Schema", async () => {
    const strict = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const tools = fromAiSdkTools({ count: { inputSchema: () => aiSdkSchema(strict), execute: () => "ran" } });
    expect(await runOne(tools, "count", { n: 1 })).toMatchObject({ outcome: "succeeded" });
    expect(await runOne(tools, "count", { n: "1" })).toMatchObject({ outcome: "refused" });
  });

  it("a JSON Schema that is only ready later is refused by name", () => {
    const later = { inputSchema: aiSdkSchema(Promise.resolve(OPEN)), execute: () => "" };
    expect(thrownBy(() => fromAiSdkTools({ later }))).toEqual(invalidOptions(/"later": its JSON Schema is only ready/));
  });
});

describe("fromAiSdkTools: execution", () => {
  it("execute gets the call's id, an abort signal and the host", async () => {
    const seen: unknown[] = [];
    const tools = fromAiSdkTools({
      look: { inputSchema: OPEN, execute: (...given: unknown[]) => void seen.push(given) },
    });
    await runOne(tools, "look", { a: 1 }, { host: { user: "ada" } });
    const options = {
      toolCallId: "call_1",
      messages: [],
      abortSignal: expect.any(AbortSignal),
      context: { user: "ada" },
      experimental_context: { user: "ada" },
    };
    expect(seen).toEqual([[{ a: 1 }, options]]);
  });

  it("what execute yields is progress, and the last of it the result", async () => {
    async function* execute() {
      yield "half";
      yield "whole";
      return "ignored by the AI SDK";
    }
    const session = createToolSession({ tools: fromAiSdkTools({ stream: { inputSchema: OPEN, execute } }) });
    const batch = session.execute([{ id: "call_1", name: "stream", arguments: {} }]);
    const events: KernelEvent[] = [];
    batch.subscribe((event) => events.push(event));
    const { settled } = await batch.result;
    await session.close();
    expect(settled[0]?.result.content).toEqual([{ type: "text", text: "whole" }]);
    const updates = events.flatMap((event) => (event.kind === "toolProgressed" ? [event.update] : []));
    expect(updates).toEqual(["half", "whole"]);
  });

  it("UNC-1: a throw of a write is uncertain, of a read a failure", async () => {
    const throwing = {
      inputSchema: OPEN,
      execute: () => {
        throw new Error("lost");
      },
    };
    expect(await runOne(fromAiSdkTools({ throwing }), "throwing", {})).toMatchObject({ outcome: "uncertain" });
    const read = fromAiSdkTools({ throwing }, { throwing: { risk: "readOnly" } });
    expect(await runOne(read, "throwing", {})).toMatchObject({ outcome: "failed" });
  });
});

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
