import { type AnyTool, createToolSession, defineTool, type KernelError, type ToolDefinition } from "toolkernel";
import { describe, expect, it } from "vitest";
import { create, faultOf, read } from "../support/options-scene.ts";
import { call, outcomesOf, recordingTool, testSession } from "../support/run-calls.ts";

describe("tools", () => {
  const good = { name: "t", description: "", inputSchema: { type: "object" }, execute: () => 1 };

  const wrong: readonly (readonly [string, unknown])[] = [
    ...([5, "", undefined, null] as const).map((value) => ["name", value] as const),
    ...([5, undefined, null] as const).map((value) => ["description", value] as const),
    ...([5, undefined, null, [], "object", () => 1] as const).map((value) => ["inputSchema", value] as const),
    ...([5, undefined, null, {}] as const).map((value) => ["execute", value] as const),
    ...(["write", null, true] as const).map((value) => ["risk", value] as const),
    ...(["safeParallel", null] as const).map((value) => ["executionMode", value] as const),
    ...([0, 0.9, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2_147_483_648, "5", null] as const).map(
      (value) => ["timeoutMs", value] as const,
    ),
    ...([0, "no", null] as const).map((value) => ["trackExactRepeats", value] as const),
    ...(["nothing", null] as const).map((value) => ["throwMeans", value] as const),
    ...["prepareArguments", "validate", "conflictKey", "recover"].map((name) => [name, "f"] as const),
    ["conflictKey", "k"],
    ["inputJsonSchema", []],
  ];

  it.each(wrong)("PREP-8: defineTool refuses the option %s = %j by its name", (name, value) => {
    const definition = { ...good, [name]: value } as unknown as ToolDefinition<string, object, unknown>;
    expect(faultOf(() => defineTool(definition))).toBe(`INVALID_OPTIONS ${name}`);
  });

  it.each(wrong)("PREP-8: a session and setTools refuse a tool with %s = %j, however it was made", (name, value) => {
    const tool = { ...good, [name]: value } as unknown as AnyTool;
    const session = createToolSession({ tools: [] });
    expect(faultOf(() => create({ tools: [read, tool] }))).toBe(`INVALID_OPTIONS ${name}`);
    expect(faultOf(() => session.setTools([read, tool]))).toBe(`INVALID_OPTIONS ${name}`);
  });

  it.each(["conflictKeys", "timeout", "needApproval", "__proto__"])("PREP-8: defineTool knows no option %s", (name) => {
    const definition = Object.fromEntries([...Object.entries(good), [name, 1]]) as unknown as typeof good;
    expect(faultOf(() => defineTool(definition))).toBe(`INVALID_OPTIONS ${name}`);
  });

  it("PREP-8: names the tool that a fault is in", () => {
    expect(() => create({ tools: [read, { ...good, risk: "none" }] })).toThrow(
      'Tool "t": risk must be one of readOnly',
    );
  });

  it.each([null, 5, "read", [], () => read])("PREP-8: %j is no tool", (tool) => {
    expect(faultOf(() => create({ tools: [tool] }))).toMatch(/^INVALID_OPTIONS (tools|name)/);
  });

  it("PREP-8: two of one name are refused, at construction and by setTools, which then changes nothing", async () => {
    expect(faultOf(() => create({ tools: [read, recordingTool().tool] }))).toBe("DUPLICATE_TOOL tools");
    expect(() => create({ tools: [read, read] })).toThrow('Two tools are named "read"; give each its own name.');
    const session = testSession({ tools: [read] });
    const other = recordingTool({ name: "other" }).tool;
    expect(faultOf(() => session.setTools([other, other]))).toMatch(/^DUPLICATE_TOOL/);
    expect(outcomesOf(await session.execute([call("read"), call("other")]).result)).toEqual(["succeeded", "refused"]);
  });

  it("PREP-8: names that differ in case, or that prototypes have, are names like any other", async () => {
    const names = ["Read", "read", "__proto__", "constructor", "toString", "hasOwnProperty"];
    const tools = names.map((name) => recordingTool({ name }).tool);
    const session = testSession({ tools });
    expect(outcomesOf(await session.execute(names.map((name) => call(name))).result)).toEqual(
      names.map(() => "succeeded"),
    );
  });

  it("PREP-8: a defined tool cannot be changed afterwards", () => {
    expect(Object.isFrozen(defineTool(good))).toBe(true);
  });

  it("PREP-8: may carry more than the kernel knows, where the host made it by itself", async () => {
    const session = testSession({ tools: [{ ...good, icon: "x" } as AnyTool] });
    expect(outcomesOf(await session.execute([call("t")]).result)).toEqual(["succeeded"]);
  });

  it("PREP-8: setTools takes a list, and serves the next response", async () => {
    const session = testSession({ tools: [] });
    expect(faultOf(() => session.setTools({} as never))).toBe("INVALID_OPTIONS tools");
    const first = session.execute([call("read")]);
    session.setTools([read]);
    expect(outcomesOf(await first.result)).toEqual(["succeeded"]);
    const second = session.execute([call("read")]);
    await Promise.resolve().then(() => session.setTools([]));
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
    expect(outcomesOf(await session.execute([call("read")]).result)).toEqual(["refused"]);
  });
});

describe("execute", () => {
  const session = createToolSession({ tools: [read] });
  const executing = (response: unknown, options?: unknown) => () =>
    session.execute(response as never, options as never);

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "response"],
    ["null", null, "response"],
    ["a text", "read", "response"],
    ["an object without calls", { stopReason: "stop" }, "response.calls"],
    ["calls that are no list", { calls: {} }, "response.calls"],
    ["an unknown field", { calls: [], reason: "stop" }, "response.reason"],
    ["an unknown stop reason", { calls: [], stopReason: "max_tokens" }, "response.stopReason"],
    ["a call that is not an object", ["read"], "calls[0]"],
    ["a call that is null", [call("read"), null], "calls[1]"],
    ["a call without a name", [call("read"), { id: "a", arguments: "{}" }], "calls[1].name"],
    ["a name that is not a string", [{ id: "a", name: 5 }], "calls[0].name"],
    ["an id that is not a string", [{ id: 5, name: "read" }], "calls[0].id"],
    ["an unknown field of a call", [{ id: "a", name: "read", args: "{}" }], "calls[0].args"],
    ["provider data that is not an object", [{ id: "a", name: "read", providerData: "x" }], "calls[0].providerData"],
  ])("PREP-9: refuses %s by its place", (_what, response, subject) => {
    expect(faultOf(executing(response))).toBe(`INVALID_OPTIONS ${subject}`);
  });

  it.each<[string, unknown]>([
    ["turn", 0],
    ["turn", 1.5],
    ["turn", "1"],
    ["signal", {}],
    ["signal", new AbortController()],
    ["stopReason", "tool_calls"],
    ["approvals", []],
    ["approvals", true],
    ["blockOthers", "yes"],
    ["timeoutMs", 5],
  ])("PREP-10: refuses the option %s of a wrong type or name", (name, value) => {
    expect(faultOf(executing([], { [name]: value }))).toBe(`INVALID_OPTIONS ${name}`);
  });

  it("PREP-10: refuses options that are none, and takes undefined for absent", async () => {
    expect(faultOf(executing([], null))).toBe("INVALID_OPTIONS options");
    const all = {
      signal: undefined,
      turn: undefined,
      stopReason: undefined,
      approvals: undefined,
      blockOthers: undefined,
    };
    const given = [{ id: undefined, name: "read", arguments: undefined, providerData: undefined }];
    expect(outcomesOf(await session.execute(given, all).result)).toEqual(["succeeded"]);
  });

  it("PREP-10: has read its options when it returns; what the host does to them later changes nothing", async () => {
    const hooks = { authorizeToolCall: () => ({ ask: {} }) };
    const asking = testSession({ tools: [read], hooks });
    const options: Record<string, unknown> = { turn: 5 };
    const first = asking.execute([call("read")], options);
    options.turn = 9;
    const [approval] = (await first.result).approvals ?? [];
    const approvals: Record<string, unknown> = { [String(approval?.approvalId)]: true };
    const answers: Record<string, unknown> = { turn: 5, approvals };
    const second = asking.execute([call("read")], answers as never);
    approvals[String(approval?.approvalId)] = false;
    approvals.nobody = true;
    answers.turn = 1;
    expect(outcomesOf(await second.result)).toEqual(["succeeded"]);
    const third = asking.execute([call("read")]);
    const turns: number[] = [];
    third.subscribe(({ turn }) => void turns.push(turn));
    await third.result;
    await asking.close();
    expect(new Set(turns)).toEqual(new Set([6]));
  });

  it("PREP-9: on a closed session is a misuse", async () => {
    const closed = createToolSession({ tools: [read] });
    await closed.close();
    expect(faultOf(() => closed.execute([]))).toBe("INVALID_OPTIONS execute");
    await closed.close();
  });
});

describe("resolveUncertain", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "INVALID_OPTIONS options"],
    ["a text", "committed", "INVALID_OPTIONS options"],
    ["no status", {}, "INVALID_OPTIONS status"],
    ["an unknown status", { status: "done" }, "INVALID_OPTIONS status"],
    ["an unknown field", { status: "failed", detail: 1 }, "INVALID_OPTIONS detail"],
    ["an unknown call", { status: "failed" }, "OPERATION_UNKNOWN undefined"],
  ])("UNC-6: refuses %s", async (_what, resolution, fault) => {
    const session = createToolSession({ tools: [read] });
    await expect(session.resolveUncertain("x", resolution as never)).rejects.toSatisfy(
      (error: KernelError) => `${error.code} ${error.subject}` === fault,
    );
  });
});

describe("messages", () => {
  it("PREP-8: never hold what was given, only where and what to do", () => {
    const secret = "hunter2-payload";
    const works = [
      () => create({ tools: [], toolExecution: secret }),
      () => create({ tools: [], limits: { maxTurns: secret } }),
      () => create({ tools: [], runId: `${secret}\u0000` }),
      () => create({ tools: [{ ...recordingTool().tool, risk: secret }] }),
      () => createToolSession({ tools: [] }).execute([], { turn: secret as never }),
      () => createToolSession({ tools: [] }).execute([{ name: "read", id: { secret } as never }]),
    ];
    for (const work of works) {
      expect(faultOf(work)).toMatch(/^INVALID_OPTIONS /);
      expect(work).toThrow(expect.objectContaining({ message: expect.not.stringContaining("hunter2") }));
    }
  });
});
