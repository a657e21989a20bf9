import { get, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { KernelError } from "toolkernel";
import { type InspectorServer, type RecordingEntry, serveInspector } from "toolkernel/inspect";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EntryFeed, MOST_KEPT_ENTRIES } from "../../src/inspect/server/entry-feed.ts";
import { playBatches } from "../inspect/play-batches.ts";

const servers: InspectorServer[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(): Promise<InspectorServer> {
  const server = await serveInspector();
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function ask(url: string, options: { method?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    asking.on("error", reject);
    asking.end();
  });
}

/** What a stream tells until it has told so many messages. */
function listen(url: string, messages: number, headers: Record<string, string> = {}): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const asking = get(url, { agent: false, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
        const told = text.split("\n\n").filter((message) => message.includes("data: "));
        if (told.length < messages || !text.endsWith("\n\n")) return;
        asking.destroy();
        resolve(told);
      });
    });
    asking.on("error", reject);
  });
}

/** What a stream tells, one message after the other. */
async function* messagesOf(url: string): AsyncGenerator<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false }, resolve).on("error", reject);
  });
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    const messages = (text + String(piece)).split("\n\n");
    text = messages.pop() ?? "";
    yield* messages.filter((message) => message.includes("data: "));
  }
}

function entry(name: string): RecordingEntry {
  return { type: "actor", timeMs: 1, runId: "r", actor: 0, id: name, chart: "batch" };
}

describe("serveInspector", () => {
  it("listens on this machine alone, at a path that nobody can guess", async () => {
    const [one, other] = [await serve(), await serve()];
    for (const { url } of [one, other]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    expect(new URL(one.url).pathname).not.toBe(new URL(other.url).pathname);
    const { status, headers, text } = await ask(one.url);
    expect([status, headers["content-type"], headers["access-control-allow-origin"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      undefined,
    ]);
    expect(text).toContain("connect-src &#39;self&#39;");
  });

  it.each([
    ["of another host's name", "", { headers: { host: "example.com" } }, 403],
    ["that would change something", "", { method: "POST" }, 405],
    ["for another path", "../", {}, 404],
  ])("answers no request %s", async (_name, path, options, status) => {
    const { url } = await serve();
    const answer = await ask(new URL(path, url).href, options);
    expect([answer.status, answer.text]).toEqual([status, ""]);
  });

  it("tells who comes late all that was, and who comes back only what came since", async () => {
    const server = await serve();
    for (const name of ["a", "b"]) server.add(entry(name));
    const [missed = ""] = await listen(`${server.url}feed`, 1);
    expect(missed).toBe(`id: 1\ndata: ${JSON.stringify([entry("a"), entry("b")])}`);
    server.add(entry("c"));
    expect(await listen(`${server.url}feed`, 1, { "Last-Event-ID": "1" })).toEqual([
      `id: 2\ndata: ${JSON.stringify([entry("c")])}`,
    ]);
  });

  it("shows what its recorders record", async () => {
    const server = await serve();
    await playBatches([[{ tool: "read" }]], { recorder: server.record() });
    const [told = ""] = await listen(`${server.url}feed`, 1);
    const entries = JSON.parse(told.slice(told.indexOf("data: ") + 6)) as readonly RecordingEntry[];
    expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(["actor", "transition", "event"]));
  });

  it("tells open pages that it ends, and then is gone", async () => {
    const server = await serve();
    server.add(entry("a"));
    const ending = listen(`${server.url}feed`, 2);
    // The first message has come when the second can be asked for.
    await listen(`${server.url}feed`, 1);
    await server.close();
    expect((await ending).at(-1)).toBe("event: end\ndata: {}");
    await expect(ask(server.url)).rejects.toThrow("ECONNREFUSED");
    await server.close();
  });

  it("tells a recording of any size, in pieces and no faster than it is read", async () => {
    const server = await serve();
    const long = "x".repeat(9_000);
    for (let index = 0; index < 2_500; index++) server.add(entry(`${index} ${long}`));
    const told: string[] = [];
    for await (const message of messagesOf(`${server.url}feed`)) {
      for (const { id } of JSON.parse(message.slice(message.indexOf("data: ") + 6)) as { readonly id: string }[]) {
        told.push(id.slice(0, id.indexOf(" ")));
      }
      if (told.length >= 2_500) break;
    }
    expect(told).toEqual(Array.from({ length: 2_500 }, (_, index) => String(index)));
  });

  it.each([
    ["has sent half a request", "GET / HT"],
    ["does not read what it asked for", undefined],
  ])("closes while somebody %s", async (_name, half) => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const server = await serve();
    for (let index = 0; index < 2_500; index++) server.add(entry("x".repeat(9_000)));
    const { port, pathname, host } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    const gone = new Promise((resolve) => socket.on("close", resolve));
    socket.pause();
    await new Promise<void>((resolve) => {
      socket.write(half ?? `GET ${pathname}feed HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => resolve());
    });
    // It is answered when another is, who asked later.
    await ask(server.url);
    const closing = server.close();
    await vi.advanceTimersByTimeAsync(1_000);
    await closing;
    socket.resume();
    await gone;
  });

  it.each([70_000, -1, 1.5])("refuses the port %s by its name", async (port) => {
    const error = await serveInspector({ port }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KernelError);
    expect(error).toMatchObject({ code: "INVALID_OPTIONS", subject: "port" });
  });

  it("refuses a port that is taken", async () => {
    const { url } = await serve();
    await expect(serveInspector({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining(new URL(url).port),
    });
  });
});

describe("the feed", () => {
  it("lets the oldest entries go when there are too many, and never repeats one", () => {
    const feed = new EntryFeed();
    for (let index = 0; index <= MOST_KEPT_ENTRIES; index++) feed.add(entry(String(index)));
    const told: string[] = [];
    let known = -1;
    for (let piece = feed.pieceAfter(known); piece !== undefined; piece = feed.pieceAfter(known)) {
      known = piece.newest;
      told.push(...(JSON.parse(piece.text) as { readonly id: string }[]).map(({ id }) => id));
    }
    expect([told.length, told[0], told.at(-1), new Set(told).size, known]).toEqual([
      MOST_KEPT_ENTRIES / 2,
      String(MOST_KEPT_ENTRIES / 2 + 1),
      String(MOST_KEPT_ENTRIES),
      MOST_KEPT_ENTRIES / 2,
      MOST_KEPT_ENTRIES,
    ]);
  });

  it("wakes who listens, until it stops", () => {
    const feed = new EntryFeed();
    const since: (string | undefined)[] = [];
    const stop = feed.listen(() => since.push(feed.pieceAfter(-1)?.text));
    feed.add(entry("new"));
    stop();
    feed.add(entry("unheard"));
    expect(since).toEqual([JSON.stringify([entry("new")])]);
  });
});
