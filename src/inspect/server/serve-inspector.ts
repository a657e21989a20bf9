/**
 * The inspector page, served to this machine alone.
 * Owns: the HTTP server, the open responses. Does not own: what is recorded, what a reader was told. Invariants:
 * it listens on 127.0.0.1 and nowhere else; it answers only to who names this machine as host and knows the path,
 * which nobody can guess; whoever does not read, or does not ask to the end, keeps it from closing for a moment only.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { KernelError } from "toolkernel";
import {
  checkGiven,
  checkOptions,
  mustBeRecord,
  mustBeString,
  type OptionCheck,
  wholeNumber,
} from "../../domain/check-options.ts";
import { liveInspectorPage } from "../inspector-page.ts";
import type { RecordingEntry } from "../recording/entry.ts";
import { RecordingReader } from "../recording/read-recording.ts";
import { type RecordRunOptions, type RunRecorder, recordRun } from "../recording/record-run.ts";
import { EntryFeed } from "./entry-feed.ts";
import { FeedReader } from "./feed-reader.ts";

/** Options of {@link serveInspector}. */
export interface ServeInspectorOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  readonly title?: string | undefined;
}

/** A running inspector. */
export interface InspectorServer extends AsyncDisposable {
  /** Where the page is; on this machine only. */
  readonly url: string;
  /** Makes a recorder for one session or Agent, whose recording the page shows as it grows. */
  record(options?: RecordRunOptions): RunRecorder;
  /** Shows an entry, for example of a recording that was read. */
  add(entry: RecordingEntry): void;
  /** Tells open pages that nothing more will come, and ends the server. */
  close(): Promise<void>;
}

const OPTION_CHECKS: Readonly<Record<keyof ServeInspectorOptions, OptionCheck>> = {
  port: wholeNumber(0, 65_535),
  title: mustBeString,
};

/** It is told to the page as JSON. */
const mustBeEntry: OptionCheck = (value) =>
  mustBeRecord(value) ?? (JSON.stringify(value) === undefined ? "must be JSON" : undefined);

const HOST = "127.0.0.1";
/** How long readers have for what was written to them when the server closes. */
const CLOSING_MS = 1_000;
const HEADERS = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * Serves the inspector page on 127.0.0.1: `const inspector = await serveInspector()`, then give a session
 * `inspector.record()`'s `telemetry` and `inspect`, and open `inspector.url`.
 * @throws KernelError `INVALID_OPTIONS` (as a rejection) naming the option, and when the port cannot be had.
 */
export async function serveInspector(options: ServeInspectorOptions = {}): Promise<InspectorServer> {
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const feed = new EntryFeed();
  const open: OpenResponses = new Map();
  const server = createServer();
  const port = await listen(server, options.port ?? 0);
  const path = `/${randomBytes(16).toString("hex")}/`;
  const page = liveInspectorPage(options.title ?? "Inspector");
  server.on("request", (request, response) => {
    open.set(response, undefined);
    response.on("close", () => open.delete(response));
    if (!isForUs(request, port)) refuse(response, 403);
    else if (request.method !== "GET") refuse(response, 405);
    else if (request.url === path) sendPage(response, page);
    else if (request.url === `${path}feed`) open.set(response, streamFeed(request, response, feed));
    else refuse(response, 404);
  });
  const close = (): Promise<void> => closeServer(server, open);
  return {
    url: `http://${HOST}:${port}${path}`,
    record: (recordOptions) => recordInto(feed, recordOptions),
    add: (entry) => {
      checkGiven(entry, "entry", mustBeEntry);
      feed.add(entry);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function recordInto(feed: EntryFeed, options: RecordRunOptions | undefined): RunRecorder {
  const reader = new RecordingReader();
  let lines = 0;
  return recordRun((line) => {
    const entry = reader.read(line, lines++);
    if (entry !== undefined) feed.add(entry);
  }, options);
}

/** A page of another origin reaches this server under another name: such a request is not for us. */
function isForUs({ headers }: IncomingMessage, port: number): boolean {
  return headers.host === `${HOST}:${port}` || headers.host === `localhost:${port}`;
}

function sendPage(response: ServerResponse, page: string): void {
  response.writeHead(200, { ...HEADERS, "Content-Type": "text/html; charset=utf-8" });
  response.end(page);
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" });
  response.end();
}

/** The responses that have not ended, and the readers that some of them are. */
type OpenResponses = Map<ServerResponse, FeedReader | undefined>;

/** A reader that comes back says which entry it had last, as event streams do. */
function streamFeed(request: IncomingMessage, response: ServerResponse, feed: EntryFeed): FeedReader {
  response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream; charset=utf-8" });
  const lastId = Number(request.headers["last-event-id"] ?? -1);
  return new FeedReader(feed, response, Number.isSafeInteger(lastId) ? lastId : -1);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      const message = `The inspector cannot listen on port ${port}; give another port, or none for a free one.`;
      reject(new KernelError("INVALID_OPTIONS", message, { subject: "port", cause }));
    };
    server.once("error", fail);
    // A server that listens on a port has an address with one.
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

async function closeServer(server: Server, open: OpenResponses): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  for (const reader of open.values()) reader?.end();
  await haveEnded([...open.keys()]);
  // Half a request would be waited for until it is whole.
  server.closeAllConnections();
  await closed;
}

/** Waits until responses have been read, for a moment. */
async function haveEnded(responses: readonly ServerResponse[]): Promise<void> {
  const ended = responses.map((response) => new Promise<void>((resolve) => response.once("close", resolve)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const moment = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSING_MS);
  });
  await Promise.race([Promise.all(ended), moment]);
  clearTimeout(timer);
}
