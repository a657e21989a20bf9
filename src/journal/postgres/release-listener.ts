/**
 * Hears what other processes release, while somebody here waits.
 * Owns: one connection that listens, taken at the first wait where the pool can spare it: the last one is for
 * statements. Invariants: without it, or when it breaks, those who wait still look from time to time; a broken
 * one is replaced at the next wait. Where a pooler stands before the server nobody listens: its connections
 * serve whoever comes next, who would be told, and not we.
 */
import type { Released } from "../../domain/journal.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { returnSpare, takeSpare } from "./spare-connection.ts";

/** What a listener works with. */
export interface ListenerPorts {
  readonly pool: PostgresPool;
  readonly channel: string;
  readonly onReleased: (released: Released) => void;
}

/** See the file header. */
export class ReleaseListener {
  readonly #ports: ListenerPorts;
  /** Resolves to nothing where listening is of no use. */
  #client: Promise<PostgresClient | undefined> | undefined;
  #isClosed = false;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
  }

  /** Listens from now on, if it does not already. */
  listen(): void {
    if (this.#isClosed || this.#client !== undefined || !takeSpare(this.#ports.pool)) return;
    const connecting = this.#connect();
    this.#client = connecting;
    connecting.catch(() => this.#forget(connecting));
  }

  /** Listens no more. A connection that the pool has yet to give is given back when it comes; nobody waits for it. */
  close(): void {
    this.#isClosed = true;
    const connecting = this.#client;
    if (connecting === undefined) return;
    this.#forget(connecting);
    // Destroyed: what it listened to must not go with it to its next user.
    connecting.then(
      (client) => client?.release(true),
      () => undefined,
    );
  }

  async #connect(): Promise<PostgresClient | undefined> {
    const { pool, channel, onReleased } = this.#ports;
    const client = await pool.connect();
    const connecting = this.#client;
    try {
      if (await isPooled(client)) {
        client.release();
        return undefined;
      }
      client.on("notification", (message) => {
        const [scopes = "", ...operation] = message.payload?.split("\n") ?? [];
        if (message.channel === channel) onReleased({ operationId: operation.join("\n"), scopes: scopes.split(" ") });
      });
      client.on("error", () => {
        if (connecting !== undefined && this.#forget(connecting)) client.release(true);
      });
      await client.query(`LISTEN ${channel}`);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #forget(connecting: Promise<PostgresClient | undefined>): boolean {
    if (this.#client !== connecting) return false;
    this.#client = undefined;
    returnSpare(this.#ports.pool);
    return true;
  }
}

/** Whether a connection ends at a pooler: then the process that answers is not the one that was named. */
async function isPooled(client: PostgresClient): Promise<boolean> {
  const { processID } = client;
  if (processID === undefined || processID === null) return false;
  const { rows } = await client.query("SELECT pg_backend_pid() AS answering");
  return Number(rows[0]?.answering) !== processID;
}
