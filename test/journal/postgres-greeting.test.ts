import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const GREETING = message("R", Buffer.alloc(4));
const READY = message("Z", Buffer.from("I"));
const HANG_UP = message("E", Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0"));

/** A server that greets whoever comes and hangs up in one breath, as one does that is killed meanwhile. */
async function startHangingUp(): Promise<{ readonly url: string; readonly greeted: () => number }> {
  let greeted = 0;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      greeted += 1;
      socket.end(Buffer.concat([GREETING, READY, HANG_UP]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `postgres://somebody@127.0.0.1:${port}/nowhere`, greeted: () => greeted };
}

describe("a PostgreSQL server that greets and hangs up in one breath", () => {
  it("ACT-11: is a journal that is unavailable, and does not end the process", async () => {
    const { url, greeted } = await startHangingUp();
    await expect(openPostgresJournal(url)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(greeted()).toBeGreaterThan(0);
  });

  it("ACT-11: also where the pool is the host's, which is given back as it was", async () => {
    const { url } = await startHangingUp();
    const pool = new pg.Pool({ connectionString: url });
    pool.on("error", () => undefined);
    await expect(openPostgresJournal(pool)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(pool.listenerCount("connect")).toBe(0);
    await pool.end();
  });
});
