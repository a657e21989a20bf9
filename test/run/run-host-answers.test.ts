import { type AnyTool, defineTool, type JsonObject, type ToolContext } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openAgentBench, say } from "../support/agent-bench.ts";
import { openBench } from "../support/execution-bench.ts";
import { call, recordingTool, verdictsOf } from "../support/run-calls.ts";
import { faultOf, play } from "../support/run-close-scene.ts";

describe("what a host answers to a run", () => {
  it("RUN-2: messages that are no list end it, and are told to be none", async () => {
    const played = await play({
      script: [say()],
      hooks: { prepareNextTurn: () => ({ messages: { length: 0 } }) as never },
    });
    const { status, code, subject } = faultOf(played);
    expect({ status, code, subject, requests: played.requests }).toEqual({
      status: "kernelError",
      code: "INVALID_OPTIONS",
      subject: "hooks.prepareNextTurn",
      requests: [],
    });
  });

  it("PREP-8: the model is told of no tool that cannot be called", async () => {
    const foreign = (name: string, inputSchema: JsonObject): AnyTool =>
      recordingTool({ name, inputSchema, origin: "imported" }).tool;
    const tools = [foreign("broken", { type: "dict" }), foreign("fine", { type: "object" })];
    const bench = openAgentBench({ tools, script: [say()] });
    await bench.play();
    expect(bench.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([["fine"]]);
  });

  it("UNC-7: a question that takes too long is told so by its signal", async () => {
    const signals: AbortSignal[] = [];
    const tool = defineTool({
      name: "tool",
      description: "Loses its answer.",
      inputSchema: { type: "object" } as JsonObject,
      timeoutMs: 100,
      execute: () => {
        throw new Error("lost");
      },
      recover: (_args: unknown, { signal }: ToolContext) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    } as never) as AnyTool;
    const bench = openBench({ tools: [tool] });
    const running = await bench.start([call("tool", {}, "t")]);
    await bench.advance(100);
    expect(verdictsOf(await running.result)).toEqual(["uncertain:internal"]);
    expect(signals.map(({ aborted, reason }) => [aborted, (reason as Error).name])).toEqual([[true, "TimeoutError"]]);
  });
});
