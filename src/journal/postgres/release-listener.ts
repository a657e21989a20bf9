/**
 * Hears what other processes release, while somebody here waits.
 * Owns: one connection that listens, taken at the first wait. Invariants: without it, or when it breaks,
 * those who wait still look from time to time; a broken one is replaced at the next wait.
 */
import type { Released } from "../../domain/journal.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";

/** What a listener works with. */
export interface ListenerPorts {
  readonly pool: PostgresPool;
  readonly channel: string;
  readonly onReleased: (released: Released) => void;
}

/** See the file header. */
export class ReleaseListener {
  readonly #ports: ListenerPorts;
  #client: Promise<PostgresClient> | undefined;
  #isClosed = false;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
  }

  /** Listens from now on, if it does not already. */
  listen(): void {
    if (this.#isClosed || this.#client !== undefined) return;
    const connecting = this.#connect();
    this.#client = connecting;
    connecting.catch(() => this.#forget(connecting));
  }

  /** Listens no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    // Destroyed: what it listened to must not go with it to its next user.
    client?.release(true);
  }

  async #connect(): Promise<PostgresClient> {
    const { pool, channel, onReleased } = this.#ports;
    const client = await pool.connect();
    const connecting = this.#client;
    client.on("notification", (message) => {
      const [scopes = "", ...operation] = message.payload?.split("\n") ?? [];
      if (message.channel === channel) onReleased({ operationId: operation.join("\n"), scopes: scopes.split(" ") });
    });
    client.on("error", () => {
      if (connecting !== undefined && this.#forget(connecting)) client.release(true);
    });
    try {
      await client.query(`LISTEN ${channel}`);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #forget(connecting: Promise<PostgresClient>): boolean {
    if (this.#client !== connecting) return false;
    this.#client = undefined;
    return true;
  }
}
