import { type AnyTool, type SessionHooks, ToolError } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  call,
  eventsOf,
  outcomesOf,
  play,
  recordingTool,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";

const LONG = "x".repeat(5_000_000);

function thrower(error: unknown): () => never {
  return () => {
    throw error;
  };
}

/** A declared error whose fields are what they should not be. */
function badError(fields: PropertyDescriptorMap): ToolError {
  return Object.defineProperties(new ToolError("The account is closed."), fields);
}

const LAZY = { get: thrower(new Error("lazy")) };

type Said = readonly [string, Partial<AnyTool>, SessionHooks];

describe("what a refusal says", () => {
  it.each<Said>([
    ["what prepareArguments throws", { prepareArguments: thrower(new ToolError(LONG)) }, {}],
    ["what validate throws", { validate: thrower(new ToolError(LONG)) }, {}],
    ["what validate answers", { validate: () => LONG }, {}],
    ["what conflictKey throws", { conflictKey: thrower(new ToolError(LONG)) }, {}],
    ["the reason of the host's policy", {}, { rewriteToolCall: () => ({ block: LONG }) }],
    ["the reason of the host's authorizer", {}, { authorizeToolCall: () => ({ block: LONG }) }],
  ])("PREP-6: is bounded, as what an executor throws is: %s", async (_what, tool, hooks) => {
    const refused = await play({ tools: [recordingTool(tool).tool], hooks }, [call("read")]);
    const failing = { ...recordingTool().tool, execute: thrower(new ToolError(LONG)) };
    const failed = await play({ tools: [failing] }, [call("read")]);
    expect(outcomesOf(refused.result)).toEqual(["refused"]);
    expect(textsOf(refused.result)[0]).toHaveLength(textsOf(failed.result)[0]?.length ?? 0);
    expect(eventsOf(refused.events, "toolRefused")[0]?.reason.length).toBeLessThan(10_100);
  });

  it("APP-3: is bounded where a person says it", async () => {
    const hooks: SessionHooks = { authorizeToolCall: () => ({ ask: {} }) };
    const session = testSession({ tools: [recordingTool().tool], hooks });
    const { approvals } = await session.execute([call("read")]).result;
    const answers = { [approvals?.[0]?.approvalId ?? ""]: { block: LONG } };
    const result = await session.execute([call("read")], { turn: 1, approvals: answers }).result;
    expect(textsOf(result)[0]?.length).toBeLessThan(10_100);
  });

  it("PREP-6: is no longer than any other result may be", async () => {
    const limits = { maxResultCharacters: 300 };
    const { tool } = recordingTool({ validate: () => LONG });
    const { result } = await play({ tools: [tool], limits }, [call("read")]);
    expect(textsOf(result)[0]).toHaveLength(301);
  });

  it.each([
    ["names none", badError({ failureCategory: { value: "bogus" } }), "unspecified", "The account is closed."],
    ["throws when it is read", badError({ failureCategory: LAZY }), "unspecified", "The account is closed."],
    ["stands beside a message that throws", badError({ message: LAZY }), "unspecified", "The tool threw an error that"],
    ["is one", new ToolError("No.", { failureCategory: "ruleRejected" }), "ruleRejected", "No."],
  ])(
    "PREP-6: is what a declared error says, as of one that an executor throws: its category %s",
    async (_what, error, category, text) => {
      const refused = recordingTool({ validate: thrower(error) });
      const failing = { ...recordingTool({ name: "write" }).tool, execute: thrower(error) };
      const { result } = await play({ tools: [refused.tool, failing] }, [call("read"), call("write")]);
      expect(verdictsOf(result)).toEqual([`refused:${category}`, `failed:${category}`]);
      expect(textsOf(result).map((said) => said.slice(0, text.length))).toEqual([text, text]);
    },
  );
});
