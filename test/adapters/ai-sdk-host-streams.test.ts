import { defineTool, ToolError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, END, type Kernel, kernelOf, read, response, SCHEMA } from "../support/ai-sdk-host-scene.ts";
import { generate } from "./wires/generation.ts";
import { streamingModel, wholeModel } from "./wires/language-models.ts";

describe("toAiSdk", () => {
  it("REP-4: the kernel's word stands behind its results, in every later request; REP-5 ends the loop", async () => {
    await using host = kernelOf([read], { limits: { exactToolRepeatTerminationThreshold: 5 } });
    const model = wholeModel([1, 2, 3, 4, 5].map((n) => response([call(`call_${n}`, "read", { n: 1 })])));
    const { requests, closed } = await generate(host.kernel, model);
    expect(closed).toBe(true);
    expect(requests.map((messages) => messages.map((message) => ("role" in message ? message.role : "")))).toEqual([
      ["user"],
      ["user", "assistant", "tool"],
      ["user", "assistant", "tool", "assistant", "tool"],
      ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "user"],
      ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "user", "assistant", "tool"],
    ]);
    expect(requests[4]?.[7]).toEqual(requests[3]?.[7]);
    expect(requests[3]?.[7]).toMatchObject({ content: expect.stringContaining("read") });
  });

  it("a word that stands in the messages already is not put twice", async () => {
    await using host = kernelOf([read], { limits: { exactToolRepeatAdvisoryThreshold: 1 } });
    await generate(host.kernel, wholeModel([response([call("1", "read")]), END]));
    const answered = [{ role: "tool", content: [{ type: "tool-result", toolCallId: "1" }] }];
    const once = await host.kernel.prepareStep<object>({ messages: answered });
    expect(once.messages).toHaveLength(2);
    expect(await host.kernel.prepareStep({ messages: once.messages ?? [] })).toEqual(once);
    const trimmed = [{ role: "user", content: "Anew." }];
    expect(await host.kernel.prepareStep({ messages: trimmed })).toEqual({ messages: trimmed });
  });

  it("the generation's abort signal cancels the batch", async () => {
    const controller = new AbortController();
    const wait = defineTool({
      name: "wait",
      description: "",
      inputSchema: SCHEMA,
      risk: "readOnly",
      execute: (_, { signal }) => {
        const over = new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new ToolError("gone"))),
        );
        controller.abort("the user left");
        return over;
      },
    });
    await using host = kernelOf([wait]);
    const model = wholeModel([response([call("1", "wait"), call("2", "read")]), END]);
    const { steps } = await generate(host.kernel, model, { signal: controller.signal, maxSteps: 1 });
    expect(steps[0]?.[0]).toEqual({ toolCallId: "1", error: "gone" });
  });

  it("APP-1: an ask is refused, since nobody can answer within a step; its siblings go on", async () => {
    let paid = 0;
    const pay = defineTool({ name: "pay", description: "", inputSchema: SCHEMA, execute: () => ++paid });
    const authorizeToolCall = ({ tool }: { tool: { name: string } }) => (tool.name === "pay" ? { ask: {} } : true);
    await using host = kernelOf([read, pay], { hooks: { authorizeToolCall } });
    const model = wholeModel([response([call("1", "pay"), call("2", "read", { n: 2 })]), END]);
    const { steps } = await generate(host.kernel, model);
    expect(steps[0]).toEqual([
      { toolCallId: "1", error: expect.any(String) },
      { toolCallId: "2", output: { n: 2 } },
    ]);
    expect(paid).toBe(0);
  });

  it("REP-3: calls that the AI SDK refuses by itself are seen all the same", async () => {
    await using host = kernelOf([read], { limits: { exactToolRepeatTerminationThreshold: 4 } });
    const model = wholeModel([1, 2, 3, 4, 5].map((n) => response([call(`call_${n}`, "reed")])));
    const { closed, requests } = await generate(host.kernel, model);
    expect({ closed, requests: requests.length, batches: host.batches.length }).toEqual({
      closed: true,
      requests: 4,
      batches: 4,
    });
  });

  it("tools of the host's own, and tools that the provider runs, are left alone", async () => {
    await using host = kernelOf([read]);
    const search = { ...call("p", "search"), providerExecuted: true };
    const model = wholeModel([response([call("1", "own"), search, call("2", "read", { n: 2 })]), END]);
    const { steps } = await generate(host.kernel, model, { ownTools: ["own"] });
    expect(host.batches).toMatchObject([{ calls: [{ id: "2", name: "read" }] }]);
    expect(steps[0]?.at(-1)).toEqual({ toolCallId: "2", output: { n: 2 } });
  });

  it("a call of a model that was not wrapped is refused, with what to do", async () => {
    await using host = kernelOf([read]);
    const executing = host.kernel.tools.read?.execute({}, { toolCallId: "1" });
    await expect(executing).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining("toAiSdk"),
    });
    expect(() => host.kernel.model("openai/gpt" as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS" }),
    );
  });

  it("PREP-9: of two calls with one id each is answered", async () => {
    await using host = kernelOf([read]);
    const model = wholeModel([response([call("1", "read", { n: 1 }), call("1", "read", { n: 2 })]), END]);
    const { steps } = await generate(host.kernel, model);
    expect(steps[0]).toEqual([
      { toolCallId: "1", error: expect.any(String) },
      { toolCallId: "1", error: expect.any(String) },
    ]);
  });
});

describe("toAiSdk: streams", () => {
  const FINISH = { type: "finish", finishReason: { unified: "tool-calls", raw: "tool_use" }, usage: {} };

  async function drain(stream: ReadableStream<unknown>, onPart: (part: object) => void): Promise<void> {
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      onPart(next.value as object);
    }
  }

  /** Does with a stream what `streamText` does: executes each call as soon as it comes. */
  async function stream(host: Kernel, parts: readonly object[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    const model = host.kernel.model(streamingModel([parts]));
    const started = (await model.doStream({ tools: [{ name: "read" }] } as never)) as {
      stream: ReadableStream<unknown>;
    };
    const executing: Promise<unknown>[] = [];
    const seen: object[] = [];
    const draining = drain(started.stream, (part) => {
      seen.push(part);
      if ("toolCallId" in part) {
        const toolCallId = String(part.toolCallId);
        executing.push(Promise.resolve(host.kernel.tools.read?.execute({}, { toolCallId })));
      }
    }).catch(() => undefined);
    await draining;
    expect(seen).toEqual(parts.filter((part) => !(part instanceof Error)));
    return Promise.allSettled(executing);
  }

  it("execute waits for the whole response, so that its calls are one batch", async () => {
    await using host = kernelOf([read]);
    const results = await stream(host, [call("1", "read", { n: 1 }), call("2", "read", { n: 2 }), FINISH]);
    expect(results).toEqual([
      { status: "fulfilled", value: { n: 1 } },
      { status: "fulfilled", value: { n: 2 } },
    ]);
    expect(host.batches).toHaveLength(1);
  });

  it.each([
    ["ends without a finish", []],
    ["breaks", [new Error("broken pipe")]],
    ["says that it failed", [{ type: "error", error: "overloaded" }]],
  ])("PREP-10: of a stream that %s no call runs", async (_, end) => {
    await using host = kernelOf([read]);
    const [result] = await stream(host, [call("1", "read", { n: 1 }), ...end]);
    expect(result?.status).toBe("rejected");
    expect(host.batches).toMatchObject([{ stopReason: "error" }]);
  });

  it("PREP-10: of a stream that nobody reads to its end no call runs", async () => {
    await using host = kernelOf([read]);
    const model = host.kernel.model(streamingModel([[call("1", "read", { n: 1 }), FINISH]]));
    const { stream: parts } = (await model.doStream({ tools: [] } as never)) as { stream: ReadableStream<unknown> };
    const reader = parts.getReader();
    await reader.read();
    const executing = host.kernel.tools.read?.execute({}, { toolCallId: "1" });
    await reader.cancel("the user left");
    await expect(executing).rejects.toThrow();
    expect(host.batches).toMatchObject([{ stopReason: "error" }]);
  });

  it("the wrapped model is the same model in all else", async () => {
    await using host = kernelOf([read]);
    const model = streamingModel([], "v2");
    expect(host.kernel.model(model)).toMatchObject({
      specificationVersion: "v2",
      provider: "fake",
      modelId: "fake-1",
      supportedUrls: model.supportedUrls,
    });
  });
});
