import type { GivenCall, JsonObject } from "toolkernel";
import { describe, expect, it } from "vitest";
import { caseTools } from "../support/case-tools.ts";
import { draftOn } from "../support/cases-arguments-scene.ts";
import { call, outcomesOf, play, recordingTool, textsOf, verdictsOf } from "../support/run-calls.ts";

describe("drafts that attack", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "C51: a tool named %s is unknown, or is the host's own",
    async (name) => {
      const { result } = await play({ tools: [] }, [call(name, '{"path":"a"}')]);
      expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
      expect(textsOf(result)[0]).toContain("unknown_tool");
      const own = recordingTool({ name });
      expect(outcomesOf((await play({ tools: [own.tool] }, [call(name)])).result)).toEqual(["succeeded"]);
    },
  );

  it.each([
    '{"__proto__":{"isAdmin":true},"path":"a"}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"a":[{"__proto__":null}]}',
  ])("C51: %s reaches no prototype", async (draft) => {
    const { verdict, runs } = await draftOn({ type: "object" }, draft);
    expect([verdict, runs]).toEqual(["refused:invalidArguments", []]);
    expect(["isAdmin" in {}, "x" in {}, Object.prototype.constructor === Object]).toEqual([false, false, true]);
  });

  it("C51: conflict keys and repeats take __proto__ as a name like any other", async () => {
    const { tool, runs } = recordingTool({
      name: "__proto__",
      conflictKey: () => "__proto__",
      executionMode: "parallel",
    });
    const calls = Array.from({ length: 8 }, (_, index) => call("__proto__", '{"constructor":1}', `c${index}`));
    const { result } = await play({ tools: [tool] }, calls);
    expect(outcomesOf(result)).toEqual([...Array(7).fill("succeeded"), "repeatTerminated"]);
    expect(runs).toHaveLength(7);
    expect(result.settled[0]?.conflictKeys).toEqual(["__proto__"]);
  });

  it.each([
    ['{"account":2512292042121000001,"cents":1}', "send it as a string"],
    ['{"account":"a","cents":9007199254740993}', "send it as a string"],
    ['{"account":"a","cents":1e400}', "send it as a string"],
  ])("C52: %s is never rounded: the model is told to send text", async (draft, advice) => {
    const { tools, done } = caseTools();
    const { result } = await play({ tools }, [call("pay", draft)]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)[0]).toContain(advice);
    expect(done).toEqual([]);
  });

  it("C52: text of a large number stays text", async () => {
    const { tools, done } = caseTools();
    await play({ tools }, [call("pay", '{"account":"2512292042121000001","cents":1}')]);
    expect(done).toEqual(["pay 2512292042121000001"]);
  });

  it("C52: -0 and 0, 1.0 and 1 are one call", async () => {
    const drafts = ['{"x":-0,"y":1}', '{"x":0,"y":1.0}', '{"x":-0.0,"y":10e-1}'];
    const { tool } = recordingTool();
    const { events } = await play(
      { tools: [tool] },
      drafts.map((draft, index) => call("read", draft, `c${index}`)),
    );
    expect(events.filter(({ kind }) => kind === "toolRepeatDetected")).toHaveLength(1);
  });

  it("C54: a key twice is refused, since authorizer and executor could read it differently", async () => {
    const { tools, done } = caseTools();
    const authorized: unknown[] = [];
    const hooks = {
      authorizeToolCall: (input: { readonly arguments: JsonObject }) => void authorized.push(input.arguments),
    };
    const { result } = await play({ tools, hooks }, [call("read", '{"path":"safe","path":"evil"}')]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)[0]).toContain("a duplicate key");
    expect([authorized, done]).toEqual([[], []]);
  });
});

describe("responses", () => {
  it("C39: of a response cut off at its length nothing runs, and every call is told so", async () => {
    const { tools, done } = caseTools();
    const { result } = await play({ tools }, [call("read", '{"path":"a"}', "a"), call("read", { path: "half" }, "b")], {
      stopReason: "length",
    });
    expect(outcomesOf(result)).toEqual(["refused", "refused"]);
    expect(textsOf(result).every((text) => text.startsWith("not_executed: response_truncated"))).toBe(true);
    expect([done, result.closed]).toEqual([[], false]);
  });

  it("C39: a call whose text ends inside a string does not run, whatever the provider says of the end", async () => {
    const { tools, done } = caseTools();
    const { result } = await play({ tools }, [call("edit", '{"path":"b","oldText":"half', "b")], {
      stopReason: "toolUse",
    });
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)[0]).toContain("the text ends inside a string");
    expect(done).toEqual([]);
  });

  it("C55: the same id twice refuses the response; no result is lost or copied", async () => {
    const { tools, done } = caseTools();
    const { result } = await play({ tools }, [
      call("read", '{"path":"a"}', "edit:22"),
      call("read", '{"path":"b"}', "edit:22"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "refused:invalidArguments"]);
    expect(result.messages).toMatchObject([
      { callId: "edit:22", callIndex: 0 },
      { callId: "edit:22", callIndex: 1 },
    ]);
    expect(done).toEqual([]);
  });

  it("C57: ids that are missing, empty or the text undefined are given, each its own", async () => {
    const { tools, done } = caseTools();
    const given: GivenCall[] = [
      { id: "", name: "read", arguments: '{"path":"a"}' },
      { id: undefined, name: "read", arguments: '{"path":"b"}' },
      { id: "undefined", name: "read", arguments: '{"path":"c"}' },
      { id: "undefined", name: "read", arguments: '{"path":"d"}', providerData: { id: "undefined" } },
    ];
    const { result } = await play({ tools }, given);
    const ids = result.messages.map((message) => "callId" in message && message.callId);
    expect(new Set(ids).size).toBe(4);
    expect(ids.some((id) => id === "" || id === "undefined")).toBe(false);
    expect(result.messages[3]).toMatchObject({ providerData: { id: "undefined" } });
    expect(done).toEqual(["read a", "read b", "read c", "read d"]);
  });

  it("C60: an unknown tool is one error among results, and aborts nothing", async () => {
    const { tools, done } = caseTools();
    const { result } = await play({ tools }, [
      call("read", '{"path":"a"}', "a"),
      call("nope", "{}", "b"),
      call("read", '{"path":"b"}', "c"),
    ]);
    expect(verdictsOf(result)).toEqual(["succeeded", "refused:invalidArguments", "succeeded"]);
    expect(textsOf(result)[1]).toContain("unknown_tool");
    expect(done).toEqual(["read a", "read b"]);
  });
});
