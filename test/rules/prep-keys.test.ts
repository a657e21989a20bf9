import type { JsonObject } from "toolkernel";
import { controllableTool } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { call, outcomesOf, play, recordingTool, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

async function resolve(answer: unknown) {
  const { tool, runs } = recordingTool({ conflictKey: (() => answer) as never });
  const { result } = await play({ tools: [tool] }, [call("read")]);
  return { result, runs };
}

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `k${index}`);

describe("conflictKey", () => {
  it.each<[string, unknown, string[]]>([
    ["a key", "k", ["k"]],
    ["several keys, in their order", ["b", "a"], ["b", "a"]],
    ["16 keys", keys(16), keys(16)],
    ["a key of 1,024 units", "x".repeat(1_024), ["x".repeat(1_024)]],
    ["a key of 512 characters of two units", "😀".repeat(512), ["😀".repeat(512)]],
    ["equal keys, which count once", ["a", "b", "a"], ["a", "b"]],
    ["a key named __proto__", ["__proto__", "constructor"], ["__proto__", "constructor"]],
    ["a key with blanks and colons", " file: a ", [" file: a "]],
    ["undefined: no key", undefined, []],
    ["null: no key", null, []],
    ['"": no key', "", []],
    ["[]: no key", [], []],
  ])("PREP-5: may answer %s", async (_what, answer, expected) => {
    const { result, runs } = await resolve(answer);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
    expect(result.settled[0]?.conflictKeys).toEqual(expected);
    expect(runs).toEqual([{}]);
  });

  it.each<[string, unknown, string]>([
    ["17 keys", keys(17), "has more than 16 conflict keys"],
    ["a key of 1,025 units", "x".repeat(1_025), "has a conflict key over 1024 UTF-16 units"],
    ["513 characters of two units", "😀".repeat(513), "has a conflict key over 1024 UTF-16 units"],
    ["a long key among others", ["a", "x".repeat(1_025)], "has a conflict key over 1024 UTF-16 units"],
    ["a NUL", "a\u0000b", "has a conflict key with a control character"],
    ["a line feed", "a\nb", "has a conflict key with a control character"],
    ["DEL", "a\u007f", "has a conflict key with a control character"],
    ["a C1 control", "a\u0085", "has a conflict key with a control character"],
    ["a lone high surrogate", "a\ud83d", "has a conflict key with a lone surrogate"],
    ["a lone low surrogate", ["a", "\ude00"], "has a conflict key with a lone surrogate"],
    ["a number", 5, "has a conflict key that is not a string"],
    ["false", false, "has a conflict key that is not a string"],
    ["an object", {}, "has a conflict key that is not a string"],
    ["a set", new Set(["a"]), "has a conflict key that is not a string"],
    ["a promise", Promise.resolve("a"), "has a conflict key that is not a string"],
    ["a list with a number", ["a", 5], "has a conflict key that is not a string"],
    ["a list with null", ["a", null], "has a conflict key that is not a string"],
    ["a list in a list", [["a"]], "has a conflict key that is not a string"],
    ["a huge sparse list", new Array(4_000_000_000), "has more than 16 conflict keys"],
  ])("PREP-5: may not answer %s: refused before dispatch, without naming the key", async (_what, answer, fault) => {
    const { result, runs } = await resolve(answer);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)).toEqual([`not_executed: the call ${fault}.`]);
    expect(runs).toEqual([]);
  });

  it("PREP-5: is called once per call, with the final arguments, the host's value and the run", async () => {
    const asked: unknown[] = [];
    const conflictKey = (given: unknown, context: unknown) => {
      asked.push([given, context]);
      return "k";
    };
    const { tool } = recordingTool({ conflictKey: conflictKey as never });
    const hooks = {
      rewriteToolCall: ({ arguments: given }: { readonly arguments: JsonObject }) => ({
        arguments: { ...given, final: true },
      }),
    };
    const { result } = await play({ tools: [tool], hooks, host: { h: 1 } }, [
      call("read", '{"n":1}', "a"),
      call("read", '{"n":2}', "b"),
      call("read", "[]", "c"),
    ]);
    expect(outcomesOf(result)).toEqual(["succeeded", "succeeded", "refused"]);
    expect(asked).toEqual([
      [
        { n: 1, final: true },
        { host: { h: 1 }, runId: "run" },
      ],
      [
        { n: 2, final: true },
        { host: { h: 1 }, runId: "run" },
      ],
    ]);
  });

  it("PREP-5: is not called for a call that is already refused", async () => {
    const { tool } = recordingTool({
      conflictKey: () => {
        throw new Error("called");
      },
    });
    const { result } = await play({ tools: [tool], hooks: { rewriteToolCall: () => ({ block: "no" }) } }, [
      call("read"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:authorization"]);
  });

  it("PREP-5: names keys that all tools of a session share; __proto__ is one like any other", async () => {
    const simulated = trackedClock();
    const [one, other] = ["one", "other"].map((name) =>
      controllableTool({ name, executionMode: "parallel", conflictKey: () => "__proto__" }),
    );
    if (one === undefined || other === undefined) throw new Error("no tools");
    const session = testSession({ tools: [one, other], clock: simulated.clock });
    const batch = session.execute([call("one"), call("other")]);
    await simulated.advance(0);
    expect([one.pending.length, other.pending.length]).toEqual([1, 0]);
    one.pending[0]?.resolve();
    await simulated.advance(0);
    expect(other.pending).toHaveLength(1);
    other.pending[0]?.resolve();
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded"]);
  });
});
