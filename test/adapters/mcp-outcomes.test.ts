import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { OutcomeUnknownError, type Tool, ToolError } from "toolkernel";
import { fromMcp } from "toolkernel/mcp";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  connectActServer,
  connectRaw,
  type RawConnection,
  type RawReply,
  type RawRequest,
} from "../support/raw-mcp-server.ts";
import { type TestContext, testContext } from "../support/tool-context.ts";

const open: Client[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((client) => client.close()));
});

interface ActServer extends RawConnection {
  readonly act: Tool;
}

async function actServer(onCall: (reply: RawReply, request: RawRequest) => void): Promise<ActServer> {
  const connection = await connectActServer(onCall);
  open.push(connection.client);
  const [act] = await fromMcp(connection.client);
  if (act === undefined) {
    throw new Error("the server lists the tool act");
  }
  return { ...connection, act };
}

type Ending = { readonly threw: unknown } | { readonly gave: unknown };

function ending(act: Tool, test: TestContext = testContext()): Promise<Ending> {
  return Promise.resolve(act.execute({ path: "a" }, test.context)).then(
    (gave): Ending => ({ gave }),
    (threw: unknown): Ending => ({ threw }),
  );
}

function facts(ended: Ending): unknown {
  if ("gave" in ended) {
    return ended;
  }
  const { threw } = ended;
  if (threw instanceof ToolError) {
    return ["certain", threw.failureCategory, threw.message];
  }
  return threw instanceof OutcomeUnknownError ? ["uncertain", threw.message] : threw;
}

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
    open.push(client);
    // From here on the SDK's own callTool throws for such a result, after the fact.
    await client.listTools();
    await expect(client.callTool({ name: "act" })).rejects.toThrow("does not match");
    const [act] = await fromMcp(client);
    expect(await act?.execute({}, testContext().context)).toEqual(
      expect.objectContaining({ content: [{ type: "json", value: { count: "x" } }] }),
    );
  });
});

describe("what nobody answered is unknown (UNC-1)", () => {
  it("UNC-1: a connection that closes after sending leaves the outcome unknown", async () => {
    const { act } = await actServer((reply) => void reply.close());
    expect(facts(await ending(act))).toEqual([
      "uncertain",
      "The call of act was sent to its MCP server, but the connection closed before the server answered.",
    ]);
  });

  it("UNC-1: a connection closed and replaced at once leaves the outcome unknown", async () => {
    const { act, client } = await actServer((reply) => void reply.close());
    const other = await actServer(() => undefined);
    const spare = other.client.transport;
    client.onclose = () => {
      // The part of connect that runs at once is what counts; nobody answers on the spare connection.
      if (spare !== undefined) {
        client.connect(spare).catch(() => undefined);
      }
    };
    expect(facts(await ending(act))).toEqual(["uncertain", expect.stringContaining("connection closed")]);
    client.onclose = () => undefined;
  });

  it("UNC-1: an abort leaves the outcome unknown, tells the server and not the host's reason", async () => {
    const { act, seen } = await actServer(() => undefined);
    const test = testContext();
    const ended = ending(act, test);
    test.controller.abort(new Error("the user's secret reason"));
    expect(facts(await ended)).toEqual([
      "uncertain",
      "The call of act was sent to its MCP server, but the call was stopped before the server answered.",
    ]);
    expect(seen.at(-1)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: expect.any(Number), reason: "The call was cancelled." },
    });
  });

  it("UNC-1: an abort with a reason that has no text ends the call all the same", async () => {
    const { act } = await actServer(() => undefined);
    const test = testContext();
    const ended = ending(act, test);
    test.controller.abort(Object.create(null));
    expect(facts(await ended)).toEqual(["uncertain", expect.stringContaining("was stopped")]);
  });

  it("UNC-1: the client's own time-out leaves the outcome unknown", async () => {
    const { act } = await actServer(() => undefined);
    vi.useFakeTimers();
    const ended = ending(act);
    await vi.advanceTimersByTimeAsync(2_147_483_647);
    expect(facts(await ended)).toEqual([
      "uncertain",
      "The call of act was sent to its MCP server, but the client's time-out passed.",
    ]);
  });

  it("CAN-3: the client's default time-out of a minute does not come before the kernel's", async () => {
    let answer = () => {};
    const { act } = await actServer((reply) => {
      answer = () => reply.result({ content: [] });
    });
    vi.useFakeTimers();
    const ended = ending(act);
    await vi.advanceTimersByTimeAsync(2_000_000_000);
    answer();
    expect(await ended).toEqual({ gave: expect.objectContaining({ content: [] }) });
  });

  it("UNC-1: a transport that fails while sending leaves the outcome unknown", async () => {
    const { act, client } = await actServer(() => undefined);
    failSending(client, new Error("socket hang up"));
    expect(facts(await ending(act))).toEqual([
      "uncertain",
      "The call of act was sent to its MCP server, but the connection failed.",
    ]);
  });

  it("UNC-1: a task that nobody asked for leaves the outcome unknown", async () => {
    const { act } = await actServer((reply) => reply.result({ task: { taskId: "t", status: "working" } }));
    expect(facts(await ending(act))).toEqual(["uncertain", expect.stringContaining("runs act as a task")]);
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

describe("progress and clean-up", () => {
  it("MCP progress becomes progress of the call", async () => {
    const { act } = await actServer(async (reply) => {
      reply.progress({ progress: 1, total: 3, message: "one" });
      reply.progress({ progress: 2 });
      // The SDK hands notifications over a microtask later, and drops what comes after the answer.
      await Promise.resolve();
      reply.result({ content: [] });
    });
    const test = testContext();
    await act.execute({}, test.context);
    expect(test.updates).toEqual([{ progress: 1, total: 3, message: "one" }, { progress: 2 }]);
  });

  it("a signal that fires after the answer tells the server nothing", async () => {
    const { act, seen } = await actServer((reply) => reply.result({ content: [] }));
    const test = testContext();
    await act.execute({}, test.context);
    const before = seen.length;
    test.controller.abort();
    expect(seen.length).toBe(before);
  });
});

function failSending(client: Client, error: Error): void {
  const { transport } = client;
  if (transport === undefined) {
    throw new Error("the client is connected");
  }
  transport.send = () => Promise.reject(error);
}
