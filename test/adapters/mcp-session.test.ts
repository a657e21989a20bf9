import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createToolSession, type KernelEvent, type SettledCall, type Tool, type ToolCall } from "toolkernel";
import { type FromMcpOptions, fromMcp } from "toolkernel/mcp";
import { simulatedClock } from "toolkernel/testing";
import { afterEach, describe, expect, it } from "vitest";
import { connectRaw, type RawReply } from "../support/raw-mcp-server.ts";

const open: Client[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** What a server does with each call, by tool name; the tools have the hints that are given. */
interface Server {
  readonly tools: readonly object[];
  readonly calls: Readonly<Record<string, (reply: RawReply) => void>>;
}

const LOOK = { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
const EDIT = { name: "edit", inputSchema: { type: "object" } };

interface Imported {
  readonly tools: Tool[];
  readonly called: readonly string[];
}

async function importFrom(server: Server, options: FromMcpOptions): Promise<Imported> {
  const called: string[] = [];
  const { client } = await connectRaw((request, reply) => {
    if (request.method === "tools/list") {
      reply.result({ tools: server.tools });
      return;
    }
    const name = String(request.params.name);
    called.push(name);
    server.calls[name]?.(reply);
  });
  open.push(client);
  return { tools: await fromMcp(client, options), called };
}

function callsOf(...names: readonly string[]): ToolCall[] {
  return names.map((name, index) => ({ id: `c${index}`, name, arguments: { place: index } }));
}

function outcomes(settled: readonly SettledCall[]): unknown {
  return settled.map(({ outcome, result, epoch }) => [outcome, result.failureCategory, epoch]);
}

const answer = (reply: RawReply) => reply.result({ content: [{ type: "text", text: "done" }] });

describe("tools of MCP servers in a session", () => {
  it.each([
    [
      false,
      [
        ["succeeded", undefined, 0],
        ["succeeded", undefined, 1],
        ["succeeded", undefined, 2],
      ],
    ],
    [
      true,
      [
        ["succeeded", undefined, 0],
        ["succeeded", undefined, 0],
        ["succeeded", undefined, 1],
      ],
    ],
  ])("EPOCH-7: with trusted %s hints decide what may overlap", async (trusted, expected) => {
    const { tools } = await importFrom({ tools: [LOOK, EDIT], calls: { look: answer, edit: answer } }, { trusted });
    await using session = createToolSession({ tools });
    const { settled } = await session.execute(callsOf("look", "look", "edit")).result;
    expect(outcomes(settled)).toEqual(expected);
  });

  it("UNC-1: an error the server answers with is a settled failure that blocks nothing", async () => {
    const { tools } = await importFrom(
      { tools: [EDIT], calls: { edit: (reply) => reply.error(-32_001, "Request timed out") } },
      {},
    );
    await using session = createToolSession({ tools });
    const { settled, messages } = await session.execute(callsOf("edit", "edit")).result;
    expect(outcomes(settled)).toEqual([
      ["failed", "unspecified", 0],
      ["failed", "unspecified", 1],
    ]);
    expect(messages[0]).toMatchObject({
      content: [{ type: "text", text: "MCP error -32001: Request timed out" }],
      outcomeUncertain: false,
    });
  });

  it("UNC-3: a connection that closes during a write leaves it uncertain and blocks what may touch the same", async () => {
    const { tools, called } = await importFrom(
      { tools: [LOOK, EDIT], calls: { edit: (reply) => void reply.close() } },
      { trusted: true },
    );
    await using session = createToolSession({ tools });
    const { settled } = await session.execute(callsOf("edit", "edit", "look")).result;
    expect(outcomes(settled)).toEqual([
      ["uncertain", "internal", 0],
      ["blocked", "conflict", 1],
      // A read is never blocked; it fails for certain, since nothing was sent.
      ["failed", "transient", 2],
    ]);
    expect(called).toEqual(["edit"]);
  });

  it("UNC-1: a connection that closes during a read is an ordinary failure", async () => {
    const { tools } = await importFrom(
      { tools: [LOOK], calls: { look: (reply) => void reply.close() } },
      { trusted: true },
    );
    await using session = createToolSession({ tools });
    const { settled } = await session.execute(callsOf("look")).result;
    expect(settled.map(({ outcome, result }) => [outcome, result.outcomeUncertain])).toEqual([["failed", false]]);
  });

  it("CAN-3: the kernel's time-out ends a call that the client would still wait for, and the write is uncertain", async () => {
    const { clock, advance } = simulatedClock();
    const { tools } = await importFrom({ tools: [EDIT], calls: {} }, { tools: { edit: { timeoutMs: 90_000 } } });
    await using session = createToolSession({ tools, clock });
    const batch = session.execute(callsOf("edit"));
    await advance(89_999);
    await advance(1);
    const { settled } = await batch.result;
    expect(outcomes(settled)).toEqual([["uncertain", "timeout", 0]]);
  });

  it("CAN-1: cancelling a batch cancels what is under way, and the write is uncertain", async () => {
    const controller = new AbortController();
    const { tools } = await importFrom({ tools: [EDIT], calls: { edit: () => controller.abort() } }, {});
    await using session = createToolSession({ tools });
    const { settled } = await session.execute(callsOf("edit", "edit"), { signal: controller.signal }).result;
    expect(outcomes(settled)).toEqual([
      ["uncertain", "cancelled", 0],
      ["cancelled", "cancelled", undefined],
    ]);
  });

  it("MCP progress is progress of the call", async () => {
    const report = async (reply: RawReply) => {
      reply.progress({ progress: 1, total: 2 });
      await Promise.resolve();
      answer(reply);
    };
    const { tools } = await importFrom({ tools: [EDIT], calls: { edit: report } }, {});
    await using session = createToolSession({ tools });
    const batch = session.execute(callsOf("edit"));
    const updates: unknown[] = [];
    batch.subscribe((event: KernelEvent) => {
      if (event.kind === "toolProgressed") {
        updates.push(event.update);
      }
    });
    await batch.result;
    expect(updates).toEqual([{ progress: 1, total: 2 }]);
  });

  it("PREP-8: a schema that does not compile makes its own tool unavailable, not its server", async () => {
    const { tools, called } = await importFrom(
      {
        tools: [{ name: "odd", inputSchema: { type: "dict" } }, { name: "none" }, EDIT],
        calls: { edit: answer },
      },
      {},
    );
    await using session = createToolSession({ tools });
    const { settled } = await session.execute(callsOf("odd", "none", "edit")).result;
    expect(settled.map(({ outcome }) => outcome)).toEqual(["refused", "refused", "succeeded"]);
    expect(called).toEqual(["edit"]);
  });

  it("a changed list of tools is served by a second import and setTools", async () => {
    let listed = [EDIT];
    let notify = () => {};
    const { client } = await connectRaw((request, reply) => {
      if (request.method === "tools/list") {
        reply.result({ tools: listed });
      } else {
        notify = () => reply.notify("notifications/tools/list_changed");
        answer(reply);
      }
    });
    open.push(client);
    await using session = createToolSession({ tools: await fromMcp(client) });
    const changed = new Promise<void>((resolve, reject) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        fromMcp(client)
          .then((tools) => session.setTools(tools))
          .then(resolve, reject);
      });
    });
    await session.execute(callsOf("edit")).result;
    listed = [{ ...EDIT, name: "late" }];
    notify();
    await changed;
    const { settled } = await session.execute(callsOf("edit", "late")).result;
    expect(settled.map(({ outcome }) => outcome)).toEqual(["refused", "succeeded"]);
  });
});
