import { afterEach, describe, expect, it, vi } from "vitest";
import { actServer, ending, facts, failSending } from "../support/mcp-outcomes-scene.ts";
import { testContext } from "../support/tool-context.ts";

afterEach(() => {
  vi.useRealTimers();
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
