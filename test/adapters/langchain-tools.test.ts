import { createToolSession, ToolError } from "toolkernel";
import { fromLangChainTools } from "toolkernel/langchain";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { runOne } from "./wires/run-one.ts";

const OPEN = { type: "object" };

/** A tool as LangChain's `tool()` gives one: `invoke` takes a call and a config, and answers a tool message. */
function foreign(name: string, invoke: (call: never, config: never) => unknown, more: object = {}) {
  return { name, description: `Does ${name}`, schema: OPEN, ...more, invoke };
}

function toolMessage(fields: object): object {
  return { lc_direct_tool_output: true, tool_call_id: "call_1", status: "success", ...fields };
}

describe("fromLangChainTools", () => {
  it("tools come in order, with the policies the host gives", () => {
    const tools = [foreign("read", () => ""), foreign("write", () => "")];
    expect(fromLangChainTools(tools, { read: { risk: "readOnly" } })).toMatchObject([
      { name: "read", description: "Does read", inputSchema: OPEN, risk: "readOnly", origin: "imported" },
      { name: "write", description: "Does write", inputSchema: OPEN, origin: "imported" },
    ]);
  });

  it("what does not run here, an unknown name and an unknown field are refused", () => {
    const code = "INVALID_OPTIONS";
    expect(() => fromLangChainTools([{ name: "search", schema: OPEN }])).toThrow(expect.objectContaining({ code }));
    const tools = [foreign("read", () => "")];
    expect(() => fromLangChainTools(tools, { reed: {} })).toThrow(expect.objectContaining({ code }));
    expect(() => fromLangChainTools(tools, { read: { key: "a" } as object })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it("invoke gets the call, the signal and the host, called on its own tool", async () => {
    const seen: unknown[] = [];
    const tool = foreign("read", function (this: unknown, call: unknown, config: unknown) {
      seen.push(this === tool, call, config);
      return "";
    });
    await runOne(fromLangChainTools([tool]), "read", { path: "a" }, { host: { user: "ada" } });
    expect(seen).toEqual([
      true,
      { type: "tool_call", id: "call_1", name: "read", args: { path: "a" } },
      { signal: expect.any(AbortSignal), context: { user: "ada" } },
    ]);
  });

  it("a Standard Schema refuses before dispatch, and transforms once: in LangChain", async () => {
    const schema = z.object({ count: z.string().transform(Number), unit: z.string().default("m") });
    const seen: unknown[] = [];
    const tool = foreign(
      "measure",
      ({ args }: { args: unknown }) => {
        seen.push(args, schema.parse(args));
      },
      { schema },
    );
    const tools = fromLangChainTools([tool]);
    expect(await runOne(tools, "measure", { count: 3 })).toMatchObject({ outcome: "refused" });
    expect(await runOne(tools, "measure", { count: "3" })).toMatchObject({ outcome: "succeeded" });
    expect(seen).toEqual([{ count: "3" }, { count: 3, unit: "m" }]);
  });

  it("a tool without a schema takes any object", async () => {
    const tools = fromLangChainTools([foreign("any", () => "ran", { schema: undefined })]);
    expect(await runOne(tools, "any", { a: 1 })).toMatchObject({ outcome: "succeeded" });
  });

  it("a tool message is content, status and artifact; returnDirect ends the loop", async () => {
    const message = toolMessage({ content: "not found", status: "error", artifact: { tried: 2 } });
    const tools = fromLangChainTools([foreign("find", () => message, { returnDirect: true })]);
    expect((await runOne(tools, "find", {})).result).toEqual({
      content: [{ type: "text", text: "not found" }],
      details: { tried: 2 },
      isError: true,
      failureCategory: "unspecified",
      outcomeUncertain: false,
      terminate: true,
    });
  });

  it("content blocks become parts, in the spelling of every version", async () => {
    const content = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: "data:image/png;base64,aW1n" } },
      { type: "image_url", image_url: "https://example.org/a.png" },
      { type: "image", mimeType: "image/gif", data: "Z2lm" },
      { type: "audio", source_type: "base64", mime_type: "audio/wav", data: "d2F2" },
      { type: "file", url: "https://example.org/a.pdf", mimeType: "application/pdf" },
      { type: "odd", n: 1 },
    ];
    const tools = fromLangChainTools([foreign("look", () => toolMessage({ content }))]);
    expect((await runOne(tools, "look", {})).result.content).toEqual([
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", data: "aW1n" },
      { type: "resource", uri: "https://example.org/a.png" },
      { type: "image", mediaType: "image/gif", data: "Z2lm" },
      { type: "audio", mediaType: "audio/wav", data: "d2F2" },
      { type: "resource", uri: "https://example.org/a.pdf", mediaType: "application/pdf" },
      { type: "json", value: { type: "odd", n: 1 } },
    ]);
  });

  it("of a LangGraph command the tool message counts; any other value is recorded as it is", async () => {
    const command = { lg_name: "Command", update: { messages: [toolMessage({ content: "handed over" })] } };
    const handOver = fromLangChainTools([foreign("handOver", () => command)]);
    expect((await runOne(handOver, "handOver", {})).result.content).toEqual([{ type: "text", text: "handed over" }]);
    const plain = fromLangChainTools([foreign("plain", () => ({ rows: 3 }))]);
    expect((await runOne(plain, "plain", {})).result.content).toEqual([{ type: "json", value: { rows: 3 } }]);
  });

  it("UNC-1: input that LangChain cannot parse is a certain failure, a throw of a write is uncertain", async () => {
    const unparsed = foreign("pay", () => {
      throw new Error("Received tool input did not match expected schema\n\ncents");
    });
    expect(await runOne(fromLangChainTools([unparsed]), "pay", {})).toMatchObject({
      outcome: "failed",
      result: { failureCategory: "invalidArguments" },
    });
    const throwing = foreign("pay", () => {
      throw new Error("socket closed");
    });
    expect(await runOne(fromLangChainTools([throwing]), "pay", {})).toMatchObject({ outcome: "uncertain" });
  });
});

describe("fromLangChainTools: cancellation", () => {
  /** LangChain's `tool()` rejects as soon as the signal fires, whatever the function does. */
  function givesUp(error: Error) {
    return foreign("pay", (_: never, { signal }: { signal: AbortSignal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(error));
      });
    });
  }

  async function cancelled(tool: ReturnType<typeof foreign>, risk: "readOnly" | "nonIdempotentWrite", graceMs: number) {
    const time = simulatedClock();
    const tools = fromLangChainTools([tool], { pay: { risk } });
    await using session = createToolSession({ tools, clock: time.clock });
    const controller = new AbortController();
    const batch = session.execute([{ id: "call_1", name: "pay", arguments: {} }], { signal: controller.signal });
    for await (const event of batch) {
      if (event.kind === "toolDispatched") {
        break;
      }
    }
    controller.abort("the user left");
    await time.advance(graceMs);
    const { settled } = await batch.result;
    return settled[0];
  }

  it("CAN-2: a write counts as alive for its grace, and its outcome as unknown", async () => {
    const settled = await cancelled(givesUp(new Error("Aborted")), "nonIdempotentWrite", 1_000);
    expect(settled).toMatchObject({ outcome: "uncertain", result: { failureCategory: "cancelled" } });
  });

  it("CAN-2: a read is over at once", async () => {
    const settled = await cancelled(givesUp(new Error("Aborted")), "readOnly", 0);
    expect(settled).toMatchObject({ result: { failureCategory: "cancelled", outcomeUncertain: false } });
  });

  it("CAN-2: a failure that the tool declares within its grace is its result", async () => {
    const settled = await cancelled(givesUp(new ToolError("no funds")), "nonIdempotentWrite", 0);
    expect(settled).toMatchObject({ outcome: "failed", result: { content: [{ type: "text", text: "no funds" }] } });
  });
});
