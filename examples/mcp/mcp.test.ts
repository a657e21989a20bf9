import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CALLS } from "../support/shop.ts";
import { createStock, type Stock } from "../support/stock.ts";
import * as after from "./after.ts";
import * as before from "./before.ts";

/** A server in the same process, and a client that is connected to it. */
async function connect(stock: Stock): Promise<Client> {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const inputSchema = { item: z.string() };
  const text = (left: number) => ({ content: [{ type: "text" as const, text: String(left) }] });
  server.registerTool("count", { description: "Counts an item.", inputSchema }, async ({ item }) => {
    return text(await stock.count(item));
  });
  server.registerTool("take", { description: "Takes one of an item.", inputSchema }, async ({ item }) => {
    return text(await stock.take(item));
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "host", version: "1.0.0" });
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return client;
}

describe("a host with MCP servers", () => {
  it("before: two takes at once lose one", async () => {
    const stock = createStock({ apples: 3 });
    const client = await connect(stock);
    expect(await before.answer(client, CALLS)).toEqual([
      '[{"type":"text","text":"2"}]',
      '[{"type":"text","text":"2"}]',
    ]);
    await client.close();
  });

  it("C01: after, both count", async () => {
    const stock = createStock({ apples: 3 });
    const client = await connect(stock);
    expect(await after.answer(client, CALLS)).toEqual(['[{"type":"text","text":"2"}]', '[{"type":"text","text":"1"}]']);
    await client.close();
  });
});
