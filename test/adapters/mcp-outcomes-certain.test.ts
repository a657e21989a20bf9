import { fromMcp } from "toolkernel/mcp";
import { describe, expect, it } from "vitest";
import { actServer, ending, facts, failSending } from "../support/mcp-outcomes-scene.ts";
import { closeBehindTest } from "../support/open-clients-scene.ts";
import { connectRaw } from "../support/raw-mcp-server.ts";
import { testContext } from "../support/tool-context.ts";

describe("what the server answers is certain (UNC-1)", () => {
  it("UNC-1: a result with isError is a settled failure", async () => {
    const { act } = await actServer((reply) => {
      reply.result({ content: [{ type: "text", text: "text not found" }], isError: true });
    });
    expect(await ending(act)).toEqual({
      gave: expect.objectContaining({ content: [{ type: "text", text: "text not found" }], isError: true }),
    });
  });

  it.each([
    [-32_603, "internal error", "unspecified"],
    [-32_602, "path is missing", "invalidArguments"],
    [-32_042, "visit the page first", "authorization"],
    [404, "a code of the server's own", "unspecified"],
    // The codes that the SDK uses for its own time-out and closed connection.
    [-32_001, "Request timed out", "unspecified"],
    [-32_000, "Connection closed", "unspecified"],
  ])(
    "UNC-1: a JSON-RPC error reply %i is a settled failure with the server's message",
    async (code, message, category) => {
      const { act } = await actServer((reply) => reply.error(code, message));
      expect(facts(await ending(act))).toEqual(["certain", category, `MCP error ${code}: ${message}`]);
    },
  );

  it("UNC-1: a forged time-out of another length is the server's answer", async () => {
    const { act } = await actServer((reply) => reply.error(-32_001, "Request timed out", { timeout: 60_000 }));
    expect(facts(await ending(act))).toEqual(["certain", "unspecified", "MCP error -32001: Request timed out"]);
  });

  it("UNC-1: a result whose structured content breaks the tool's output schema is a result", async () => {
    const outputSchema = { type: "object", properties: { count: { type: "number" } } };
    const { client } = await connectRaw((request, reply) => {
      reply.result(
        request.method === "tools/list"
          ? { tools: [{ name: "act", inputSchema: { type: "object" }, outputSchema }] }
          : { content: [], structuredContent: { count: "x" } },
      );
    });
    closeBehindTest(client);
    // From here on the SDK's own callTool throws for such a result, after the fact.
    await client.listTools();
    await expect(client.callTool({ name: "act" })).rejects.toThrow("does not match");
    const [act] = await fromMcp(client);
    expect(await act?.execute({}, testContext().context)).toEqual(
      expect.objectContaining({ content: [{ type: "json", value: { count: "x" } }] }),
    );
  });
});

describe("what was never sent is certain (UNC-1)", () => {
  it("UNC-1: a client that is not connected has called nothing", async () => {
    const { act, client, seen } = await actServer(() => undefined);
    await client.close();
    const before = seen.length;
    expect(facts(await ending(act))).toEqual([
      "certain",
      "transient",
      "act was not called: its MCP server is not connected.",
    ]);
    expect(seen.length).toBe(before);
  });

  it.each([
    ["a transport that has lost its process", new Error("Not connected")],
    ["a refused connection", new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } })],
    ["an unknown host", new TypeError("fetch failed", { cause: { code: "ENOTFOUND" } })],
  ])("UNC-1: %s has sent nothing", async (_what, error) => {
    const { act, client } = await actServer(() => undefined);
    failSending(client, error);
    expect(facts(await ending(act))).toEqual(["certain", "transient", expect.stringContaining("was not called")]);
  });

  it.each([
    [400, ["certain", "unspecified", "The MCP server refused the request with HTTP status 400."]],
    [403, ["certain", "authorization", "The MCP server refused the request with HTTP status 403."]],
    [408, ["uncertain", expect.stringContaining("the connection failed")]],
    [502, ["uncertain", expect.stringContaining("the connection failed")]],
    [-1, ["uncertain", expect.stringContaining("the connection failed")]],
  ])("UNC-1: HTTP status %i is judged by what it says of the request", async (status, expected) => {
    const { act, client } = await actServer(() => undefined);
    failSending(client, Object.assign(new Error("Streamable HTTP error"), { code: status }));
    expect(facts(await ending(act))).toEqual(expected);
  });
});
