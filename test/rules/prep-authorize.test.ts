import type { AuthorizeToolCall, SessionHooks } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, outcomesOf, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";

const NO_VALID_ANSWER = "not_executed: the host's authorization gave no valid answer, so the call was refused.";

async function authorize(answer: unknown) {
  const { tool, runs } = recordingTool();
  const session = testSession({ tools: [tool], hooks: { authorizeToolCall: (() => answer) as AuthorizeToolCall } });
  const result = await session.execute([call("read", '{"n":1}')]).result;
  await session.close();
  return { result, runs };
}

describe("the authorizer", () => {
  it("PREP-4: sees the final arguments, all conflict keys and everything about the call", async () => {
    const seen: unknown[] = [];
    const { tool } = recordingTool({ conflictKey: () => ["k2", "k1"] });
    const hooks: SessionHooks = {
      rewriteToolCall: ({ signal, tool: found, ...facts }) => {
        seen.push({ ...facts, tool: found.name, hasSignal: signal instanceof AbortSignal });
        return { arguments: { final: true } };
      },
      authorizeToolCall: ({ signal, tool: found, ...facts }) => {
        seen.push({ ...facts, tool: found.name, hasSignal: signal instanceof AbortSignal });
        return undefined;
      },
    };
    const draft = { ...call("read", '{"n":1}', "id"), providerData: { opaque: 1 } };
    const { result } = await play({ tools: [tool], hooks, host: "host" }, [call("nope"), draft], { turn: 7 });
    const facts = {
      call: draft,
      callIndex: 1,
      operationId: result.settled[1]?.operationId,
      tool: "read",
      runId: "run",
      turn: 7,
      host: "host",
      hasSignal: true,
    };
    expect(seen).toEqual([
      { ...facts, arguments: { n: 1 } },
      { ...facts, arguments: { final: true }, conflictKeys: ["k2", "k1"] },
    ]);
  });

  it("PREP-4: has the last word: keys are resolved before it and it is called once", async () => {
    const order: string[] = [];
    const { tool } = recordingTool({
      conflictKey: () => {
        order.push("keys");
        return "k";
      },
    });
    const hooks = { authorizeToolCall: () => void order.push("authorize") };
    await play({ tools: [tool], hooks }, [call("read")]);
    expect(order).toEqual(["keys", "authorize"]);
  });

  it.each([[undefined], [true]])("PREP-4: allows by %s", async (answer) => {
    for (const given of [answer, Promise.resolve(answer)]) {
      const { result, runs } = await authorize(given);
      expect(outcomesOf(result)).toEqual(["succeeded"]);
      expect(runs).toEqual([{ n: 1 }]);
    }
  });

  it.each<[string, unknown]>([
    ["an identical rewrite", { arguments: { n: 1 } }],
    ["another rewrite", { arguments: { n: 2 } }],
    ["the arguments themselves", { n: 1 }],
    ["a rewrite beside a block", { block: "no", arguments: { n: 1 } }],
    ["a rewrite beside a question", { ask: {}, arguments: { n: 1 } }],
    ["false", false],
    ["null", null],
    ["1", 1],
    ["a text", "true"],
    ["a Boolean object", Object(true)],
    ["a question that is a text", { ask: "may I?" }],
    ["a question that is a list", { ask: [] }],
    ["a question that is null", { ask: null }],
    ["a question that is not JSON", { ask: { at: new Date(0) } }],
    ["a question beside a block", { ask: {}, block: "no" }],
    ["a question that also ends the loop", { ask: {}, terminate: true }],
  ])("PREP-4: does not allow by %s: the call is an error and does not run", async (_what, answer) => {
    const { result, runs } = await authorize(answer);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([NO_VALID_ANSWER]);
    expect(Object.hasOwn(result, "approvals")).toBe(false);
    expect(runs).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["a rewrite that also ends the loop", { arguments: {}, terminate: true }],
    ["a rewrite to a list", { arguments: [] }],
    ["a rewrite to text", { arguments: "{}" }],
    ["a question", { ask: {} }],
    ["true", true],
  ])("PREP-4: neither may policy answer %s", async (_what, answer) => {
    const { tool, runs } = recordingTool();
    const { result } = await play({ tools: [tool], hooks: { rewriteToolCall: (() => answer) as never } }, [
      call("read"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual(["not_executed: the host's policy gave no valid answer, so the call was refused."]);
    expect(runs).toEqual([]);
  });

  it.each([
    [{ block: "No." }, "No.", false],
    [{ block: "No.", terminate: false }, "No.", false],
    [{ block: "No.", terminate: true }, "No.", true],
    [{ block: "No.", terminate: undefined, ask: undefined }, "No.", false],
    [{ block: "" }, "refused by the host's authorization", false],
  ])("PREP-4: blocks by %j", async (answer, text, terminate) => {
    const { result, runs } = await authorize(answer);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
    expect(textsOf(result)).toEqual([text]);
    expect(result.settled[0]?.result.terminate).toBe(terminate);
    expect(result.closed).toBe(terminate);
    expect(runs).toEqual([]);
  });
});
