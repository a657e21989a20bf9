import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import { KernelError, type Tool } from "toolkernel";
import { type FromMcpOptions, fromMcp } from "toolkernel/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connectRaw, listOf } from "../support/raw-mcp-server.ts";
import { testContext } from "../support/tool-context.ts";

const open: Client[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connectTo(server: McpServer): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  open.push(client);
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  return client;
}

function hintedServer(tools: Readonly<Record<string, ToolAnnotations | undefined>>): McpServer {
  const server = new McpServer({ name: "hinted", version: "1.0.0" });
  for (const [name, annotations] of Object.entries(tools)) {
    const options = { description: `Does ${name}`, inputSchema: { path: z.string() } };
    server.registerTool(name, annotations === undefined ? options : { ...options, annotations }, ({ path }) => ({
      content: [{ type: "text", text: `${name} ${path}` }],
    }));
  }
  return server;
}

async function importFromRaw(list: (params: object) => unknown, options?: FromMcpOptions): Promise<Tool[]> {
  const { client } = await connectRaw((request, reply) => reply.result(list(request.params)));
  open.push(client);
  return fromMcp(client, options);
}

async function refusal(options: unknown): Promise<unknown> {
  const client = await connectTo(hintedServer({ look: undefined, edit: undefined }));
  try {
    await fromMcp(client, options as FromMcpOptions);
  } catch (error) {
    return error instanceof KernelError ? [error.code, error.subject, error.message] : error;
  }
  return "accepted";
}

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

describe("fromMcp reads the whole list", () => {
  it("all pages are read, each with the cursor of the one before", async () => {
    const cursors: unknown[] = [];
    const tools = await importFromRaw((params) => {
      const cursor = (params as { cursor?: string }).cursor;
      cursors.push(cursor);
      const pages: Record<string, object> = {
        first: { ...listOf("a"), nextCursor: "p2" },
        p2: { ...listOf("b"), nextCursor: "p3" },
        p3: { ...listOf("c"), nextCursor: "" },
      };
      return pages[cursor ?? "first"];
    });
    expect(cursors).toEqual([undefined, "p2", "p3"]);
    expect(tools.map((tool) => tool.name)).toEqual(["a", "b", "c"]);
  });

  it("a list that leads in a circle is refused", async () => {
    const importing = importFromRaw(() => ({ ...listOf("a"), nextCursor: "again" }));
    await expect(importing).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "client" });
  });

  it("a list without end is refused", async () => {
    let page = 0;
    const importing = importFromRaw(() => ({ tools: [], nextCursor: `p${page++}` }));
    await expect(importing).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "client" });
    expect(page).toBe(1_001);
  });

  it("PREP-8: an entry that no schema of the SDK accepts harms no other tool", async () => {
    const tools = await importFromRaw(() => ({
      tools: [
        null,
        "text",
        { inputSchema: { type: "object" } },
        { name: "dict", inputSchema: { type: "dict" } },
        { name: "none" },
        { name: "list", inputSchema: [] },
        { name: "badOutput", inputSchema: { type: "object" }, outputSchema: { type: "dict" } },
        { name: "titled", title: "Titled", description: 5, inputSchema: { type: "object" }, annotations: "none" },
        { name: "titled", description: "a second one", inputSchema: { type: "object" } },
      ],
    }));
    expect(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])).toEqual([
      ["dict", "", { type: "dict" }],
      ["none", "", { type: "object" }],
      ["list", "", { type: "object" }],
      ["badOutput", "", { type: "object" }],
      ["titled", "Titled", { type: "object" }],
    ]);
    const [dict, none, list, badOutput] = tools;
    expect([dict?.validate, badOutput?.validate]).toEqual([undefined, undefined]);
    expect(none?.validate?.({})).toMatch(/no input schema for none/);
    expect(list?.validate?.({})).toMatch(/no input schema for list/);
  });

  it("a tool that runs as a task only is refused before dispatch, even with a policy", async () => {
    const [slow, optional] = await importFromRaw(
      () => ({
        tools: [
          { name: "slow", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
          { name: "either", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
        ],
      }),
      { tools: { slow: { validate: () => undefined } } },
    );
    expect(slow?.validate?.({})).toMatch(/runs slow only as a task/);
    expect(optional).not.toHaveProperty("validate");
  });

  it("a server that offers no tools gives none", async () => {
    const client = await connectTo(new McpServer({ name: "empty", version: "1.0.0" }));
    expect(await fromMcp(client)).toEqual([]);
  });

  it("the client's own error comes through when listing fails", async () => {
    const { client } = await connectRaw((_request, reply) => reply.error(-32_603, "no list today"));
    open.push(client);
    await expect(fromMcp(client)).rejects.toThrow("no list today");
  });

  it("after the list changed, a second import gives the new tools", async () => {
    const server = hintedServer({ look: undefined });
    const client = await connectTo(server);
    expect((await fromMcp(client)).map((tool) => tool.name)).toEqual(["look"]);
    server.registerTool("late", {}, () => ({ content: [] }));
    expect((await fromMcp(client)).map((tool) => tool.name)).toEqual(["look", "late"]);
  });

  const recordings = new URL("../../../shared/data/tool-calls/mcp-tools.json", import.meta.url);
  const recorded = readIfThere(recordings);
  // Recorded lists lie beside the project; without them there is nothing to read.
  describe.skipIf(recorded === undefined)("recorded servers", () => {
    it("every tool of every recorded server is imported with its schema", async () => {
      const servers = Object.values(JSON.parse(recorded ?? "{}") as Record<string, unknown>).filter(hasTools);
      expect(servers.length).toBeGreaterThan(0);
      for (const { tools } of servers) {
        const imported = await importFromRaw(() => ({ tools }));
        expect(imported.map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual(
          tools.map(({ name, inputSchema }) => ({ name, inputSchema })),
        );
      }
    });
  });
});

describe("misuse of fromMcp is refused by name", () => {
  it.each([
    [{ prefx: "a" }, "prefx", /no option "prefx"/],
    [{ prefix: 1 }, "prefix", /prefix of fromMcp must be a string/],
    [{ trusted: "yes" }, "trusted", /trusted of fromMcp must be a boolean/],
    [{ only: "look" }, "only", /only of fromMcp must be a list/],
    [{ only: [1] }, "only", /only of fromMcp must be a list/],
    [{ only: ["look", "lok"] }, "only.lok", /no tool named "lok".*look, edit/],
    [{ tools: ["look"] }, "tools", /tools of fromMcp must be an object/],
    [{ tools: { lok: {} } }, "tools.lok", /no tool named "lok"/],
    [{ prefix: "a.", tools: { "a.look": {} } }, "tools.a.look", /without the prefix/],
    [{ tools: { look: "readOnly" } }, "tools.look", /policy of the tool "look" must be an object/],
    [{ tools: { look: { risky: true } } }, "tools.look.risky", /"look" has no field "risky"/],
    [{ tools: { look: { execute: () => 1 } } }, "tools.look.execute", /"look" has no field "execute"/],
    [null, "options", /must be an object/],
  ])("%j is INVALID_OPTIONS", async (options, subject, message) => {
    expect(await refusal(options)).toEqual(["INVALID_OPTIONS", subject, expect.stringMatching(message)]);
  });

  it("undefined options count as absent", async () => {
    const options = { prefix: undefined, trusted: undefined, tools: undefined, only: undefined };
    expect(await refusal(options)).toBe("accepted");
  });
});

function readIfThere(url: URL): string | undefined {
  try {
    return readFileSync(url, "utf8");
  } catch {
    return undefined;
  }
}

function hasTools(server: unknown): server is { tools: { name: string; inputSchema: object }[] } {
  return typeof server === "object" && server !== null && Array.isArray((server as { tools?: unknown }).tools);
}
