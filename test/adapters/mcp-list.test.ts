import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { fromMcp } from "toolkernel/mcp";
import { describe, expect, it } from "vitest";
import { connectTo, hintedServer, importFromRaw } from "../support/mcp-import-scene.ts";
import { closeBehindTest } from "../support/open-clients-scene.ts";
import { connectRaw, listOf } from "../support/raw-mcp-server.ts";

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
    closeBehindTest(client);
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
