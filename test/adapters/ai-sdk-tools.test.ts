import { createToolSession, type KernelEvent } from "toolkernel";
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
    expect(thrownBy(() => fromAiSdkTools({ later }))).toEqual(invalidOptions(/"later": its JSON Schema is a promise/));
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
