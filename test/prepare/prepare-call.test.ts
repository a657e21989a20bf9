import type { JsonObject } from "toolkernel";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "../../src/domain/tool.ts";
import type { PreparePort } from "../../src/prepare/preparation.ts";
import { prepareCall } from "../../src/prepare/prepare-call.ts";
import { recordingTool } from "../support/run-calls.ts";

/** Prepares a call of `read`, whose schema allows no `bad`, and tells which steps were behind it. */
function prepared(tool: AnyTool, rewriteToolCall?: PreparePort["rewriteToolCall"]) {
  const steps: string[] = [];
  const check = (value: unknown) =>
    "bad" in (value as JsonObject) ? [{ pointer: "/bad", message: "is not known" }] : [];
  const port = { tools: new Map([["read", { tool, jsonSchema: {}, check }]]), runId: "run", rewriteToolCall };
  const call = { id: "r", name: "read", arguments: '{"n":1}' };
  const draft = { call, callIndex: 0, operationId: "o", note: (step: string) => steps.push(step) };
  return { outcome: prepareCall(draft, port as unknown as PreparePort), steps };
}

const rewriting = (answer: unknown) => () => ({ kind: "answered", answer }) as const;

describe("the steps of a call that is refused", () => {
  const { tool } = recordingTool();
  const keyless = recordingTool({ conflictKey: () => 5 as never }).tool;
  const refusal = { kind: "refusal", failureCategory: "invalidArguments", draft: { n: 1 } };

  it("PREP-1: by its conflict keys, of which it has not found any", () => {
    const plain = prepared(keyless);
    expect(plain.outcome).toMatchObject({ ...refusal, reason: expect.stringMatching(/^not_executed: /) });
    expect(plain.steps).toEqual(["FOUND", "SHAPED", "VALID", "KEPT", "REFINED"]);
    const asked = prepared(keyless, rewriting(undefined));
    expect(asked.outcome).toEqual(plain.outcome);
    expect(asked.steps).toEqual(plain.steps);
  });

  it("PREP-1: by its schema, after policy has rewritten it: it is not valid again", () => {
    const spoiled = prepared(tool, rewriting({ arguments: { bad: 1 } }));
    expect(spoiled.outcome).toMatchObject({ ...refusal, reason: expect.stringContaining("/bad") });
    expect(spoiled.steps).toEqual(["FOUND", "SHAPED", "VALID", "REWRITTEN"]);
    const fine = prepared(tool, rewriting({ arguments: { n: 2 } }));
    expect(fine.outcome).toMatchObject({ kind: "prepared", arguments: { n: 2 }, draft: { n: 1 } });
    expect(fine.steps).toEqual(["FOUND", "SHAPED", "VALID", "REWRITTEN", "VALID", "REFINED", "KEYED"]);
  });
});
