import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { OutcomeUnknownError, type Tool } from "toolkernel";
import { fromMcp } from "toolkernel/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { testContext } from "../support/tool-context.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((side) => side.close()));
});

interface Connected {
  readonly client: Client;
  readonly serverSide: InMemoryTransport;
  readonly tools: readonly Tool[];
}

async function connect(): Promise<Connected> {
  const server = new McpServer({ name: "second", version: "1.0.0" });
  const inputSchema = z.object({ path: z.string() });
  server.registerTool("look", { inputSchema, annotations: { readOnlyHint: true } }, ({ path }) => ({
    content: [{ type: "text", text: `look ${path}` }],
  }));
  server.registerTool("fail", { inputSchema }, () => {
    throw new Error("no such file");
  });
  server.registerTool("hang", { inputSchema }, () => new Promise(() => undefined));
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  open.push(client);
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  return { client, serverSide, tools: await fromMcp(client, { trusted: true }) };
}

async function rejectionOf(tool: Tool | undefined, args: { readonly path?: string }): Promise<unknown> {
  return Promise.resolve(tool?.execute(args, testContext().context)).then(
    () => "answered",
    (error: unknown) => error,
  );
}

describe("the client of the SDK's second version fits as it is", () => {
  it("lists, calls, and reads failures as answers", async () => {
    const { tools } = await connect();
    const [look, fail] = tools;
    expect(tools.map(({ name, risk }) => [name, risk])).toEqual([
      ["look", "readOnly"],
      ["fail", "nonIdempotentWrite"],
      ["hang", "nonIdempotentWrite"],
    ]);
    expect(await look?.execute({ path: "a" }, testContext().context)).toMatchObject({
      content: [{ type: "text", text: "look a" }],
    });
    expect(await fail?.execute({ path: "a" }, testContext().context)).toMatchObject({ isError: true });
  });

  it("UNC-1: a JSON-RPC error reply is certain", async () => {
    const { client } = await connect();
    // A server that has forgotten the tool answers with an error of the protocol.
    const [gone] = await fromMcp({
      request: (request, schema, options) =>
        request.method === "tools/list"
          ? Promise.resolve({ tools: [{ name: "gone", inputSchema: { type: "object" } }] })
          : client.request(request, schema, options),
      get transport() {
        return client.transport;
      },
    });
    expect(await rejectionOf(gone, {})).toMatchObject({ name: "ToolError", failureCategory: "invalidArguments" });
  });

  it("UNC-1: a connection closed after sending is uncertain, and nothing is sent after it", async () => {
    const { serverSide, tools } = await connect();
    const ended = rejectionOf(tools[2], { path: "a" });
    await serverSide.close();
    expect(await ended).toBeInstanceOf(OutcomeUnknownError);
    expect(await rejectionOf(tools[2], { path: "a" })).toMatchObject({
      name: "ToolError",
      failureCategory: "transient",
    });
  });

  it("UNC-1: an abort is uncertain", async () => {
    const { tools } = await connect();
    const test = testContext();
    const ended = Promise.resolve(tools[2]?.execute({ path: "a" }, test.context)).catch((error: unknown) => error);
    test.controller.abort();
    expect(await ended).toBeInstanceOf(OutcomeUnknownError);
  });
});
