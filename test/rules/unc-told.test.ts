import { toolResult } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { call } from "../support/run-calls.ts";
import { type Ending, settle, throwsError, throwsUnknown, WARNING } from "../support/unc-lost-outcomes-scene.ts";

describe("UNC-8: what the model is told of an uncertain outcome", () => {
  it.each([
    ["a time-out", { signalledBy: "timeout" }, "timeout", []],
    ["a cancellation", { signalledBy: "abort" }, "cancelled", []],
    ["a throw", { ending: throwsError }, "internal", ["broken pipe"]],
    ["OutcomeUnknownError", { ending: throwsUnknown }, "internal", ["the line went dead"]],
  ] as const)("after %s: check, do not repeat", async (_what, scene, failureCategory, said) => {
    expect((await settle(scene)).result).toEqual({
      content: [...said, WARNING].map((text) => ({ type: "text", text })),
      isError: true,
      failureCategory,
      outcomeUncertain: true,
      terminate: false,
    });
  });

  it("the tool's own word comes first and the warning last; what it calls retryable is not", async () => {
    const ending: Ending = ({ resolve }) =>
      resolve(
        toolResult({
          content: "sent, perhaps",
          details: { line: 3 },
          failureCategory: "transient",
          outcomeUncertain: true,
          terminate: true,
        }),
      );
    expect((await settle({ ending })).result).toEqual({
      content: [
        { type: "text", text: "sent, perhaps" },
        { type: "text", text: WARNING },
      ],
      details: { line: 3 },
      isError: true,
      failureCategory: "internal",
      outcomeUncertain: true,
      terminate: true,
    });
  });

  it("afterToolCall can reword it but can take neither warning nor flag away", async () => {
    const write = controllableTool({ name: "write" });
    const afterToolCall = () =>
      toolResult({
        content: "all is well, try again",
        isError: false,
        outcomeUncertain: false,
        failureCategory: "transient",
      });
    const bench = openBench({ tools: [write], hooks: { afterToolCall } });
    const running = await bench.start([call("write")]);
    runningCall(write, 0).reject(new Error("lost"));
    const [settled] = (await running.result).settled;
    expect([settled?.outcome, settled?.result]).toEqual([
      "uncertain",
      {
        content: [
          { type: "text", text: "all is well, try again" },
          { type: "text", text: WARNING },
        ],
        isError: true,
        failureCategory: "internal",
        outcomeUncertain: true,
        terminate: false,
      },
    ]);
  });

  it("event, settled call and message say the same", async () => {
    const write = keyedTool({ name: "write" });
    const bench = openBench({ tools: [write] });
    const running = await bench.start([call("write", { keys: "k" })]);
    runningCall(write, 0).reject(new Error("lost"));
    const { messages, settled } = await running.result;
    const ended = running.events.find((event) => event.kind === "toolEnded");
    const { content, isError, failureCategory, outcomeUncertain } = settled[0]?.result ?? ({} as never);
    expect(ended).toMatchObject({
      outcome: "uncertain",
      failureCategory,
      outcomeUncertain,
      result: { content, isError },
    });
    expect(messages).toEqual([
      {
        role: "toolResult",
        callId: "write",
        toolName: "write",
        callIndex: 0,
        content,
        isError,
        failureCategory,
        outcomeUncertain,
        terminate: false,
      },
    ]);
  });
});
