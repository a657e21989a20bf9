import { fromMcp } from "toolkernel/mcp";
import { describe, expect, it } from "vitest";
import { connectTo, hintedServer, importFromRaw } from "../support/mcp-import-scene.ts";
import { listOf } from "../support/raw-mcp-server.ts";
import { testContext } from "../support/tool-context.ts";

describe("fromMcp imports the tools of a server", () => {
  it("gives every tool its name, description, schema and an executor that calls the server", async () => {
    const client = await connectTo(hintedServer({ look: undefined }));
    const [look, ...others] = await fromMcp(client);
    expect(others).toEqual([]);
    expect(look).toEqual({
      name: "look",
      description: "Does look",
      inputSchema: expect.objectContaining({ type: "object", properties: { path: { type: "string" } } }),
      risk: "nonIdempotentWrite",
      origin: "imported",
      execute: expect.any(Function),
    });
    const result = await look?.execute({ path: "a.txt" }, testContext().context);
    expect(result).toMatchObject({ content: [{ type: "text", text: "look a.txt" }] });
  });

  it("EPOCH-7: without trust hints are ignored, and every tool is a write without a key", async () => {
    const client = await connectTo(hintedServer({ look: { readOnlyHint: true }, put: { idempotentHint: true } }));
    const tools = await fromMcp(client);
    expect(tools.map(({ name, risk, conflictKey }) => [name, risk, conflictKey])).toEqual([
      ["look", "nonIdempotentWrite", undefined],
      ["put", "nonIdempotentWrite", undefined],
    ]);
  });

  it("EPOCH-7: with trust hints decide the risk, and no hint is a non-idempotent write", async () => {
    const client = await connectTo(
      hintedServer({
        look: { readOnlyHint: true },
        both: { readOnlyHint: true, idempotentHint: false, destructiveHint: true },
        put: { idempotentHint: true },
        add: { readOnlyHint: false, destructiveHint: false },
        plain: undefined,
      }),
    );
    const tools = await fromMcp(client, { trusted: true });
    expect(tools.map(({ name, risk }) => [name, risk])).toEqual([
      ["look", "readOnly"],
      ["both", "readOnly"],
      ["put", "idempotentWrite"],
      ["add", "nonIdempotentWrite"],
      ["plain", "nonIdempotentWrite"],
    ]);
  });

  it("a policy wins over the hints and leaves the other tools alone", async () => {
    const client = await connectTo(hintedServer({ look: { readOnlyHint: true }, edit: undefined }));
    const policy = {
      risk: "idempotentWrite",
      executionMode: "parallel",
      timeoutMs: 5_000,
      trackExactRepeats: false,
      throwMeans: "failed",
      validate: () => undefined,
      conflictKey: () => "key",
      prepareArguments: () => undefined,
    } as const;
    const [look, edit] = await fromMcp(client, { trusted: true, tools: { look: policy } });
    expect(look).toMatchObject(policy);
    expect(edit).not.toHaveProperty("executionMode");
    expect(edit?.risk).toBe("nonIdempotentWrite");
  });

  it("an undefined field of a policy counts as absent", async () => {
    const client = await connectTo(hintedServer({ look: { readOnlyHint: true } }));
    const [look] = await fromMcp(client, { trusted: true, tools: { look: { risk: undefined } } });
    expect(look?.risk).toBe("readOnly");
  });

  it("a prefix keeps two servers apart, while policies go by the server's own name", async () => {
    const first = await connectTo(hintedServer({ look: undefined }));
    const second = await connectTo(hintedServer({ look: undefined }));
    const tools = [
      ...(await fromMcp(first, { prefix: "a.", tools: { look: { timeoutMs: 7 } } })),
      ...(await fromMcp(second, { prefix: "b.", only: ["look"] })),
    ];
    expect(tools.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual([
      ["a.look", 7],
      ["b.look", undefined],
    ]);
    const result = await tools[1]?.execute({ path: "x" }, testContext().context);
    expect(result).toMatchObject({ content: [{ type: "text", text: "look x" }] });
  });

  it("only imports the tools that are named, in the server's order", async () => {
    const client = await connectTo(hintedServer({ one: undefined, two: undefined, three: undefined }));
    const tools = await fromMcp(client, { only: ["three", "one"] });
    expect(tools.map((tool) => tool.name)).toEqual(["one", "three"]);
  });

  it("a tool named like an inherited property has no policy by accident", async () => {
    const tools = await importFromRaw(() => listOf("constructor", "toString"), { tools: {} });
    expect(tools.map(({ name, risk, validate }) => [name, risk, validate])).toEqual([
      ["constructor", "nonIdempotentWrite", undefined],
      ["toString", "nonIdempotentWrite", undefined],
    ]);
  });

  it("names that a provider would refuse stay as they are", async () => {
    const tools = await importFromRaw(() => listOf("files/read.text", "größe prüfen"));
    expect(tools.map((tool) => tool.name)).toEqual(["files/read.text", "größe prüfen"]);
  });
});
