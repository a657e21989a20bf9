import { runInNewContext } from "node:vm";
import { createToolSession, defineTool } from "toolkernel";
import { fromAiSdkTools } from "toolkernel/ai-sdk";
import { recordRun } from "toolkernel/inspect";
import { fromLangChainTools } from "toolkernel/langchain";
import { fromOpenAIAgentsTools } from "toolkernel/openai";
import { simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { readProjection } from "../../src/settle/read-projection.ts";
import { runOne } from "./wires/run-one.ts";

type Later = (value: unknown) => unknown;

const THEN = "then";

/** Promises that are not of the class `Promise` here: of another realm, and of a library. */
const KINDS: readonly (readonly [string, Later])[] = [
  ["a promise of another realm", runInNewContext("(value) => Promise.resolve(value)") as Later],
  ["a promise of a library", (value) => ({ [THEN]: (tell: Later) => void tell(value) })],
  ["a function that is a promise", (value) => Object.assign(() => 0, { [THEN]: (tell: Later) => void tell(value) })],
];

const REFUSAL = { issues: [{ message: "amount is over the limit" }] };

function schemaThat(validate: (value: unknown) => unknown): never {
  const jsonSchema = { input: () => ({ type: "object" }) };
  return { "~standard": { version: 1, vendor: "x", validate, jsonSchema } } as never;
}

describe.each(KINDS)("%s", (_kind, later) => {
  it("PREP-1: of a validator that refuses refuses the call, in an imported tool and in one of the host's own", async () => {
    const schema = schemaThat(() => later(REFUSAL));
    const tool = { name: "pay", description: "", schema, invoke: async () => "paid" };
    const own = defineTool({ name: "pay", description: "", inputSchema: schema, execute: () => "paid" });
    for (const tools of [fromLangChainTools([tool]), [own]]) {
      const { outcome, result } = await runOne(tools, "pay", { amount: 1_000_000 });
      expect([outcome, result.failureCategory]).toEqual(["refused", "invalidArguments"]);
      expect(result.content).toEqual([{ type: "text", text: "invalid_arguments: amount is over the limit" }]);
    }
  });

  it("PREP-1: of a validator that accepts lets the input through as it is", async () => {
    const schema = schemaThat((value) => later({ value: { ...(value as object), added: true } }));
    const tool = { name: "pay", description: "", schema, invoke: async ({ args }: never) => args };
    const { outcome, result } = await runOne(fromLangChainTools([tool]), "pay", { amount: 1 });
    expect([outcome, result.content]).toEqual(["succeeded", [{ type: "json", value: { amount: 1 } }]]);
  });

  it.each([
    [true, 1],
    [false, undefined],
  ])("APP-1: of a framework's own question, %s, is waited for", async (needed, asks) => {
    const [schema, needsApproval] = [{ type: "object" }, () => later(needed)];
    const kind = { type: "function", name: "pay", description: "", parameters: schema };
    const paying = { ...kind, needsApproval, invoke: async () => "paid" };
    const openai = fromOpenAIAgentsTools([paying]);
    const aiSdk = fromAiSdkTools({ pay: { inputSchema: schema, needsApproval, execute: () => "paid" } });
    for (const tools of [openai, aiSdk]) {
      const session = createToolSession({ tools, clock: simulatedClock().clock });
      const { approvals } = await session.execute([{ id: "a", name: "pay", arguments: "{}" }]).result;
      expect(approvals?.length).toEqual(asks);
      await session.close();
    }
  });

  it("PREP-8: of a JSON Schema that is ready later refuses the tool", () => {
    const schema = { [Symbol.for("vercel.ai.schema")]: true, jsonSchema: later({ type: "object" }), validate: () => 0 };
    const refused = expect.objectContaining({ code: "INVALID_OPTIONS" });
    expect(() => fromAiSdkTools({ pay: { inputSchema: schema, execute: () => "paid" } })).toThrow(refused);
  });

  it("PROJ-3: of a projector is no projection", () => {
    expect(readProjection(() => later({ shown: 1 }) as never, {} as never)).toBeUndefined();
  });
});

describe("a promise of another make that rejects, and that nobody waits for", () => {
  /** Counts those who take note of its rejection; without one the process would end. */
  function rejecting() {
    let heard = 0;
    const then = (_tell: unknown, fail: unknown): void => {
      if (typeof fail !== "function") return;
      heard += 1;
      fail(new Error("the disk is full"));
    };
    return { promise: { [THEN]: then }, count: () => heard };
  }

  it("OBS-3: does not end the process, as the answer of a recording's write", async () => {
    const { promise, count } = rejecting();
    let writes = 0;
    recordRun(() => {
      writes += 1;
      return promise;
    });
    await Promise.resolve();
    expect([writes > 0, count()]).toEqual([true, writes]);
  });

  it("PROJ-3: does not end the process, as the answer of a projector", async () => {
    const { promise, count } = rejecting();
    expect(readProjection(() => promise as never, {} as never)).toBeUndefined();
    await Promise.resolve();
    expect(count()).toBe(1);
  });
});
