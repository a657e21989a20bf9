import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { fromMcp } from "toolkernel/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { connectActServer } from "../support/raw-mcp-server.ts";
import { testContext } from "../support/tool-context.ts";

const open: Client[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function resultOf(answer: object): Promise<unknown> {
  const { client } = await connectActServer((reply) => reply.result(answer));
  open.push(client);
  const [act] = await fromMcp(client);
  return act?.execute({}, testContext().context);
}

async function partsOf(...content: readonly unknown[]): Promise<unknown> {
  return ((await resultOf({ content })) as { content: unknown }).content;
}

describe("the content of an MCP result becomes parts", () => {
  it("text, image and audio keep their data and media type, in order", async () => {
    const parts = await partsOf(
      { type: "text", text: "seen", annotations: { audience: ["user"] } },
      { type: "image", data: "aW1n", mimeType: "image/png" },
      { type: "audio", data: "c25k", mimeType: "audio/wav" },
    );
    expect(parts).toEqual([
      { type: "text", text: "seen" },
      { type: "image", data: "aW1n", mediaType: "image/png" },
      { type: "audio", data: "c25k", mediaType: "audio/wav" },
    ]);
  });

  it("an embedded text is a resource, an embedded blob a file", async () => {
    const parts = await partsOf(
      { type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: "A" } },
      { type: "resource", resource: { uri: "file:///b", text: "" } },
      { type: "resource", resource: { uri: "file:///c", mimeType: "application/pdf", blob: "cGRm" } },
      { type: "resource", resource: { uri: "file:///d", blob: "" } },
    );
    expect(parts).toEqual([
      { type: "resource", uri: "file:///a", mediaType: "text/plain", text: "A" },
      { type: "resource", uri: "file:///b", text: "" },
      { type: "file", name: "file:///c", mediaType: "application/pdf", data: "cGRm" },
      { type: "file", name: "file:///d", mediaType: "application/octet-stream", data: "" },
    ]);
  });

  it("a resource link says what the server says about it", async () => {
    const parts = await partsOf(
      {
        type: "resource_link",
        uri: "file:///a",
        name: "a",
        title: "The A",
        description: "first letter",
        mimeType: "x/y",
      },
      { type: "resource_link", uri: "file:///b", name: "b" },
      { type: "resource_link", uri: "file:///c" },
    );
    expect(parts).toEqual([
      { type: "resource", uri: "file:///a", mediaType: "x/y", text: "The A: first letter" },
      { type: "resource", uri: "file:///b", text: "b" },
      { type: "resource", uri: "file:///c" },
    ]);
  });

  it("UNC-1: a part of unknown or broken shape is shown as it came, never lost", async () => {
    const odd = [
      { type: "video", data: "dg==" },
      { type: "text" },
      { type: "image", data: "aW1n" },
      { type: "resource" },
      { type: "resource_link", name: "no uri" },
      "bare",
      null,
    ];
    expect(await partsOf(...odd)).toEqual(odd.map((value) => ({ type: "json", value })));
  });
});

describe("structured content", () => {
  it("is kept in details while the content is what the model sees", async () => {
    expect(await resultOf({ content: [{ type: "text", text: "3" }], structuredContent: { count: 3 } })).toEqual(
      expect.objectContaining({
        content: [{ type: "text", text: "3" }],
        details: { structuredContent: { count: 3 } },
      }),
    );
  });

  it.each([[{ content: [] }], [{}], [{ content: "none" }]])("is what the model sees with %j", async (fields) => {
    expect(await resultOf({ ...fields, structuredContent: { count: 3 } })).toEqual(
      expect.objectContaining({
        content: [{ type: "json", value: { count: 3 } }],
        details: { structuredContent: { count: 3 } },
      }),
    );
  });

  it("a result of the first protocol version is shown", async () => {
    expect(await resultOf({ toolResult: [1, 2] })).toEqual(
      expect.objectContaining({ content: [{ type: "json", value: [1, 2] }] }),
    );
  });

  // A client that checks answers rejects these; one that hands them through is no reason to call them a success.
  it.each<[unknown]>([
    ["x"],
    [undefined],
    [null],
    [[]],
    [7],
    [{ content: "x" }],
    [{ content: null }],
    [{ content: {} }],
  ])("UNC-1: an answer that is no result, %j, is a failure that is not to be repeated", async (answer) => {
    const request = async ({ method }: { readonly method: string }) =>
      method === "tools/list" ? { tools: [{ name: "act", inputSchema: { type: "object" } }] } : answer;
    const [act] = await fromMcp({ transport: {}, request } as never);
    expect(await act?.execute({}, testContext().context)).toMatchObject({
      content: "The MCP server completed act, but its answer could not be read. Do not repeat the call.",
      isError: true,
      failureCategory: "internal",
    });
  });

  it("an empty result is empty, and no failure", async () => {
    const result = await resultOf({});
    expect(result).toEqual(expect.objectContaining({ content: [] }));
    expect(result).not.toHaveProperty("details");
    expect(result).not.toHaveProperty("isError");
  });
});
