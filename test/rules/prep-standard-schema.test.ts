import { createToolSession, defineTool, type SessionHooks, type StandardSchema } from "toolkernel";
import { describe, expect, it } from "vitest";
import {
  call,
  finish,
  outcomesOf,
  play,
  recordingTool,
  testSession,
  textsOf,
  verdictsOf,
} from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

describe("a Standard Schema's own validation", () => {
  function standardTool(validate: (value: unknown) => unknown) {
    const runs: unknown[] = [];
    const inputSchema = { "~standard": { version: 1, vendor: "test", validate } } as unknown as StandardSchema;
    const tool = defineTool({
      name: "s",
      description: "Has a schema of its own.",
      inputSchema,
      inputJsonSchema: { type: "object" },
      execute: (given) => {
        runs.push(given);
        return "ok";
      },
    });
    return { tool, runs };
  }

  it.each<[string, (value: unknown) => unknown]>([
    ["at once", (value) => ({ value: { ...(value as object), added: true } })],
    ["by a promise", async (value) => ({ value: { ...(value as object), added: true } })],
  ])("PREP-1: may answer %s, and its output is the prepared arguments", async (_how, validate) => {
    const { tool, runs } = standardTool(validate);
    const { result } = await play({ tools: [tool] }, [call("s", '{"n":1}')]);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
    expect(runs).toEqual([{ n: 1, added: true }]);
  });

  it.each<[string, unknown, string]>([
    ["a date", { when: new Date(0) }, 'an object that is not plain JSON at "/when"'],
    ["a BigInt", { n: 1n }, 'a bigint at "/n"'],
    ["NaN", { n: Number.NaN }, 'a number that is not finite at "/n"'],
    ["a function", { f: () => 1 }, 'a function at "/f"'],
    ["a map", { m: new Map() }, 'an object that is not plain JSON at "/m"'],
    ["undefined", undefined, "undefined"],
  ])("PREP-1: an output that holds %s is not JSON and refuses the call", async (_what, value, fault) => {
    const { tool, runs } = standardTool(() => ({ value }));
    const { result } = await play({ tools: [tool] }, [call("s")]);
    expect(verdictsOf(result)).toEqual(["refused:internal"]);
    expect(textsOf(result)[0]).toContain(fault);
    expect(runs).toEqual([]);
  });

  it("PREP-1: an optional property that it leaves undefined is absent", async () => {
    const { tool, runs } = standardTool(() => ({ value: { a: 1, b: undefined } }));
    await play({ tools: [tool] }, [call("s")]);
    expect(runs).toEqual([{ a: 1 }]);
    expect(Object.keys(runs[0] as object)).toEqual(["a"]);
  });

  it("PREP-1: what it keeps of its output cannot change the arguments", async () => {
    const kept = { list: [1] };
    const { tool, runs } = standardTool(() => ({ value: kept }));
    const hooks: SessionHooks = { authorizeToolCall: () => void kept.list.push(2) };
    await play({ tools: [tool], hooks }, [call("s")]);
    expect(runs).toEqual([{ list: [1] }]);
    expect(kept).toEqual({ list: [1, 2] });
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("hunter2-payload");
      },
    ],
    ["rejects", () => Promise.reject(new Error("hunter2-payload"))],
    ["answers nothing", () => undefined],
    ["answers neither value nor issues", () => ({})],
  ])("PREP-1: one that %s refuses the call as internal, and its siblings go on", async (_what, validate) => {
    const { tool } = standardTool(validate);
    const { result } = await play({ tools: [tool, recordingTool().tool] }, [call("s"), call("read")]);
    expect(verdictsOf(result)).toEqual(["refused:internal", "succeeded"]);
    expect(textsOf(result)[0]).not.toContain("hunter2");
  });

  it("PREP-1: issues refuse the call with place and complaint, without the value", async () => {
    const { tool } = standardTool(() => ({
      issues: [{ message: 'too short: "hunter2"', path: ["user", { key: "name" }] }],
    }));
    const { result } = await play({ tools: [tool] }, [call("s", '{"user":{"name":"hunter2"}}')]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
    expect(textsOf(result)).toEqual(["invalid_arguments: at /user/name: too short: (the value)"]);
  });

  it("PREP-1: its JSON Schema is asked first, on the input form", async () => {
    let validations = 0;
    const inputSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) => {
          validations += 1;
          return { value: { n: Number((value as { n: string }).n) } };
        },
      },
    } as unknown as StandardSchema;
    const tool = defineTool({
      name: "s",
      description: "Takes text, gives a number.",
      inputSchema,
      inputJsonSchema: { type: "object", properties: { n: { type: "string" } }, required: ["n"] },
      execute: (given) => given,
    });
    const { result } = await play({ tools: [tool] }, [call("s", '{"n":3}', "a"), call("s", '{"n":"3"}', "b")]);
    expect(verdictsOf(result)).toEqual(["refused:invalidArguments", "succeeded"]);
    expect(result.settled[1]?.result.content).toEqual([{ type: "json", value: { n: 3 } }]);
    expect(validations).toBe(1);
  });
});

describe("the order of calls", () => {
  it("PREP-2: a call is prepared when the one before it is, in source order", async () => {
    const simulated = trackedClock();
    const trace: string[] = [];
    const open: (() => void)[] = [];
    const { tool } = recordingTool({ prepareArguments: (draft) => void trace.push(`begin ${JSON.stringify(draft)}`) });
    const session = createToolSession({
      tools: [tool],
      clock: simulated.clock,
      hooks: {
        authorizeToolCall: ({ callIndex }) => {
          trace.push(`ask ${callIndex}`);
          return new Promise((resolve) => {
            open.push(() => {
              trace.push(`answer ${callIndex}`);
              resolve(undefined);
            });
          });
        },
      },
    });
    const batch = session.execute([call("read", "{}", "a"), call("read", "{}", "b"), call("read", "{}", "c")]);
    for (let index = 0; index < 3; index += 1) {
      await simulated.advance(10);
      expect(open).toHaveLength(index + 1);
      open[index]?.();
    }
    expect(outcomesOf(await batch.result)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(trace).toEqual([0, 1, 2].flatMap((index) => ["begin {}", `ask ${index}`, `answer ${index}`]));
  });

  it("PREP-2: an authorizer that asks does not hold up the calls after it", async () => {
    const { tool } = recordingTool();
    const prepared: number[] = [];
    const session = testSession({
      tools: [tool],
      hooks: {
        authorizeToolCall: ({ callIndex }) => {
          prepared.push(callIndex);
          return callIndex === 0 ? { ask: { q: 1 } } : undefined;
        },
      },
    });
    const { result, events } = await finish(session.execute([call("read", "{}", "a"), call("read", "{}", "b")]));
    await session.close();
    expect(prepared).toEqual([0, 1]);
    expect(result.approvals?.map(({ callId }) => callId)).toEqual(["a"]);
    expect(events.filter(({ kind }) => kind === "toolPrepared")).toHaveLength(2);
  });
});
