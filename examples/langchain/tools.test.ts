import { AIMessage, coerceMessageLikeToMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createToolSession } from "toolkernel";
import { fromLangChainTools, toLangChainMessages } from "toolkernel/langchain";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";

describe("tools of LangChain, imported", () => {
  it("defaults and transforms happen once; what the schema refuses is refused before anything runs", async () => {
    const seen: unknown[] = [];
    const schema = z.object({ count: z.string().transform(Number), unit: z.string().default("m") });
    const measure = tool((input) => void seen.push(input), { name: "measure", description: "Measures.", schema });
    await using session = createToolSession({ tools: fromLangChainTools([measure]) });
    const calls = [{ count: "3" }, { count: 3 }].map((args, index) => ({
      id: `${index}`,
      name: "measure",
      arguments: args,
    }));
    const { settled } = await session.execute(calls).result;
    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded", "refused"]);
    expect(seen).toEqual([{ count: 3, unit: "m" }]);
  });

  it("Zod 3, JSON Schema and a plain text input", async () => {
    const ofZod3 = tool(({ n }) => n + 1, { name: "a", description: "", schema: z3.object({ n: z3.number() }) });
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const ofJsonSchema = tool((input) => (input as { n: number }).n + 2, { name: "b", description: "", schema });
    const ofText = tool((input) => input.toUpperCase(), { name: "c", description: "", schema: z.string() });
    await using session = createToolSession({ tools: fromLangChainTools([ofZod3, ofJsonSchema, ofText]) });
    const { settled } = await session.execute([
      { id: "1", name: "a", arguments: { n: 1 } },
      { id: "2", name: "b", arguments: { n: 1 } },
      { id: "3", name: "c", arguments: { input: "x" } },
    ]).result;
    expect(settled.map(({ result }) => result.content)).toEqual(
      ["2", "3", "X"].map((text) => [{ type: "text", text }]),
    );
  });

  it("an artifact is for the host alone", async () => {
    const find = tool(() => ["two rows", { rows: [1, 2] }], {
      name: "find",
      description: "Finds.",
      schema: z.object({}),
      responseFormat: "content_and_artifact",
    });
    await using session = createToolSession({ tools: fromLangChainTools([find]) });
    const { settled } = await session.execute([{ id: "1", name: "find", arguments: {} }]).result;
    expect(settled[0]?.result).toMatchObject({
      content: [{ type: "text", text: "two rows" }],
      details: { rows: [1, 2] },
    });
  });

  it("CAN-2: LangChain gives up on an aborted write at once, the kernel does not take that for its end", async () => {
    const time = simulatedClock();
    const pay = tool(() => new Promise<string>(() => undefined), {
      name: "pay",
      description: "",
      schema: z.object({}),
    });
    await using session = createToolSession({ tools: fromLangChainTools([pay]), clock: time.clock });
    const controller = new AbortController();
    const batch = session.execute([{ id: "1", name: "pay", arguments: {} }], { signal: controller.signal });
    for await (const event of batch) {
      if (event.kind === "toolDispatched") {
        break;
      }
    }
    controller.abort("the user left");
    await time.advance(1_000);
    expect((await batch.result).settled).toMatchObject([{ outcome: "uncertain" }]);
  });

  it("results are messages of LangChain", async () => {
    await using session = createToolSession({ tools: [] });
    const batch = await session.execute([{ id: "1", name: "unknown", arguments: {} }]).result;
    const [message] = toLangChainMessages(batch).map((like) => coerceMessageLikeToMessage(like));
    expect(message).toMatchObject({ tool_call_id: "1", status: "error" });
    expect(message?.getType()).toBe("tool");
    expect(new AIMessage("").getType()).toBe("ai");
  });
});
