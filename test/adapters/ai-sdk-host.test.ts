import { defineTool, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, END, kernelOf, read, response, SCHEMA } from "../support/ai-sdk-host-scene.ts";
import { generate } from "./wires/generation.ts";
import { wholeModel } from "./wires/language-models.ts";

describe("toAiSdk", () => {
  it("tools are shown with name, description and JSON Schema, in the AI SDK's own form and as a Standard Schema", async () => {
    await using host = kernelOf([read]);
    const tool = host.kernel.tools.read;
    expect(tool).toMatchObject({ description: "Reads" });
    expect(tool?.inputSchema).toMatchObject({ jsonSchema: SCHEMA, [Symbol.for("vercel.ai.schema")]: true });
    expect(tool?.inputSchema["~standard"].jsonSchema.input()).toEqual(SCHEMA);
    expect(tool?.inputSchema["~standard"].validate("anything")).toEqual({ value: "anything" });
  });

  it("EPOCH-2: all calls of a response are one batch, in its order, and each execute gives its own result", async () => {
    const log: string[] = [];
    const tools = ["a", "b", "c"].map((name) =>
      defineTool({
        name,
        description: "",
        inputSchema: SCHEMA,
        risk: name === "b" ? "nonIdempotentWrite" : "readOnly",
        execute: async (args) => {
          log.push(`${name} starts`);
          await Promise.resolve();
          log.push(`${name} ends`);
          return `${name} ${args.n}`;
        },
      }),
    );
    await using host = kernelOf(tools);
    const calls = [call("1", "a", { n: 1 }), call("2", "b", { n: 2 }), call("3", "c", { n: 3 })];
    const { steps } = await generate(host.kernel, wholeModel([response(calls), END]));
    expect(steps).toEqual([
      [
        { toolCallId: "1", output: "a 1" },
        { toolCallId: "2", output: "b 2" },
        { toolCallId: "3", output: "c 3" },
      ],
    ]);
    expect(host.batches).toHaveLength(1);
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
  });

  it("text is text, JSON is its value, bytes are a content output, an error is thrown with its text", async () => {
    const answers = [
      "text",
      { rows: 3 },
      undefined,
      toolResult({
        content: [
          { type: "text", text: "see" },
          { type: "image", mediaType: "image/png", data: "aW1n" },
        ],
      }),
      toolResult({ content: "no such file", isError: true }),
    ];
    const give = defineTool({
      name: "give",
      description: "",
      inputSchema: SCHEMA,
      risk: "readOnly",
      execute: ({ n }) => answers[Number(n)],
    });
    await using host = kernelOf([give]);
    const calls = answers.map((_, n) => call(`${n}`, "give", { n }));
    const { steps } = await generate(host.kernel, wholeModel([response(calls), END]));
    const content = {
      type: "content",
      value: [
        { type: "text", text: "see" },
        { type: "image-data", data: "aW1n", mediaType: "image/png" },
      ],
    };
    expect(steps[0]).toEqual([
      { toolCallId: "0", output: "text" },
      { toolCallId: "1", output: { rows: 3 } },
      { toolCallId: "2", output: "" },
      { toolCallId: "3", output: content },
      { toolCallId: "4", error: "no such file" },
    ]);
    const { toModelOutput } = host.kernel.tools.give ?? {};
    const version6 = (output: unknown) => toModelOutput?.({ toolCallId: "1", input: {}, output });
    expect(version6("text")).toEqual({ type: "text", value: "text" });
    expect(version6({ rows: 3 })).toEqual({ type: "json", value: { rows: 3 } });
    expect(version6(content)).toEqual(content);
    expect(toModelOutput?.({ rows: 3 })).toEqual({ type: "json", value: { rows: 3 } });
    expect(toModelOutput?.(content)).toEqual({
      type: "content",
      value: [
        { type: "text", text: "see" },
        { type: "media", data: "aW1n", mediaType: "image/png" },
      ],
    });
  });

  it("C39: after a cut response no call runs, and the loop goes on", async () => {
    let ran = 0;
    const write = defineTool({ name: "write", description: "", inputSchema: SCHEMA, execute: () => ++ran });
    await using host = kernelOf([write]);
    const cut = response([call("1", "write"), call("2", "write")], "length");
    const { steps, closed, requests } = await generate(host.kernel, wholeModel([cut, END]));
    expect(ran).toBe(0);
    expect(steps[0]?.map((executed) => executed.output)).toEqual([undefined, undefined]);
    expect(steps[0]?.every((executed) => typeof executed.error === "string")).toBe(true);
    expect({ closed, requests: requests.length }).toEqual({ closed: false, requests: 2 });
  });

  it("RUN-2: a batch that closes ends the loop", async () => {
    const stop = defineTool({
      name: "stop",
      description: "",
      inputSchema: SCHEMA,
      execute: () => toolResult({ value: "bye", terminate: true }),
    });
    await using host = kernelOf([stop]);
    const { closed, requests } = await generate(host.kernel, wholeModel([response([call("1", "stop")]), END]));
    expect({ closed, requests: requests.length }).toEqual({ closed: true, requests: 1 });
  });
});
