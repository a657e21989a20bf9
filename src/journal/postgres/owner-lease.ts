/**
 * Under which name this process claims, and how long it may believe to be alive.
 * Owns: its owner id, the lease as far as this process knows it, and the heartbeat while something is
 * dispatched. Invariants: the lease counts by the database's clock, and here from the moment a renewal was
 * sent; an owner whose lease ran out is dead for ever, and a new claim takes a new id (ACT-5).
 */
import type { Clock } from "../../domain/ports.ts";
import type { Lease } from "../store-options.ts";
import { checkIncarnation } from "./check-server.ts";
import type { Connections } from "./connections.ts";
import { isLeaseOver } from "./postgres-errors.ts";

/** What a lease works with. */
export interface LeasePorts {
  readonly connections: Connections;
  readonly schema: string;
  readonly clock: Clock;
  readonly lease: Lease;
}

/** Part of the lease by which this process stops before others may think it dead. */
const MARGIN_PART = 10;

/** See the file header. */
export class OwnerLease {
  readonly #ports: LeasePorts;
  #owner: Promise<string> | undefined;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #stopTimer: (() => void) | undefined;
  /** How often the heart was stopped. A beat that was under way then is not followed by another. */
  #stops = 0;

  constructor(ports: LeasePorts) {
    this.#ports = ports;
  }

  /** How long the lease of a name is. */
  get leaseMs(): number {
    return this.#ports.lease.leaseMs;
  }

  /** The time that {@link noteRemaining} counts from. */
  now(): number {
    return this.#ports.clock.now();
  }

  /** The id to claim under; a new one if there is none, or the last one is dead. */
  owner(): Promise<string> {
    this.#owner ??= this.#register();
    return this.#owner;
  }

  /** Does something under this process's id; once more under a new one where the database says that its lease ran out. */
  async under<Answer>(send: (owner: string) => Promise<Answer>): Promise<Answer> {
    const current = this.owner();
    try {
      return await send(await current);
    } catch (error) {
      if (!isLeaseOver(error)) throw error;
      // Of several that find out at the same time one takes a new id, and all use that: only it is kept alive.
      if (this.#owner === current) this.#forget();
      return send(await this.owner());
    }
  }

  /** Whether this process may still act on what it has claimed. */
  isHeld(): boolean {
    return this.#ports.clock.now() < this.#validUntilMs;
  }

  /** Notes how much of the lease was left when a statement that was sent at a time was answered. */
  noteRemaining(remainingMs: number, sentAtMs: number): void {
    const { leaseMs } = this.#ports.lease;
    this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + remainingMs - leaseMs / MARGIN_PART);
  }

  /** Keeps the heart beating while something is in flight. */
  enter(): void {
    this.#inFlight += 1;
    if (this.#stopTimer === undefined) this.#beatLater();
  }

  /** See {@link enter}. */
  leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.stop();
  }

  /** Stops the heart. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#stops += 1;
  }

  /** Ends the lease, so that what was left dispatched is looked after at once. */
  async end(): Promise<void> {
    this.stop();
    if (this.#owner === undefined) return;
    const { connections, schema } = this.#ports;
    await connections.once({
      text: `UPDATE ${schema}.owners SET lease_until = clock_timestamp() WHERE owner = $1`,
      values: [await this.#owner],
    });
  }

  #forget(): void {
    this.#owner = undefined;
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  async #register(): Promise<string> {
    const { connections, schema, clock, lease } = this.#ports;
    try {
      // Who has lost a lease may have been away for long, and the server may be another one since.
      await checkIncarnation(connections, schema);
      const sentAtMs = clock.now();
      const { rows } = await connections.repeatable({
        text: `INSERT INTO ${schema}.owners (lease_until, lease_ms) VALUES (clock_timestamp() + $1::integer * interval '1 ms', $1::integer) RETURNING owner`,
        values: [lease.leaseMs],
      });
      this.noteRemaining(lease.leaseMs, sentAtMs);
      return String(rows[0]?.owner);
    } catch (error) {
      this.#owner = undefined;
      throw error;
    }
  }

  #beatLater(): void {
    const { clock, lease } = this.#ports;
    this.#stopTimer = clock.setTimer(clock.now() + lease.heartbeatMs, () => {
      void this.#beat();
    });
  }

  async #beat(): Promise<void> {
    const { connections, schema, clock, lease } = this.#ports;
    const stops = this.#stops;
    const owner = this.#owner;
    const sentAtMs = clock.now();
    try {
      const { rows } = await connections.once({
        text: `UPDATE ${schema}.owners SET lease_until = clock_timestamp() + $2 * interval '1 ms'
          WHERE owner = $1 AND lease_until > clock_timestamp() RETURNING owner`,
        values: [await owner, lease.leaseMs],
      });
      if (rows.length === 1) this.noteRemaining(lease.leaseMs, sentAtMs);
      else if (this.#owner === owner) this.#forget();
    } catch {
      // The next beat tries again; the lease runs out by itself if none comes through.
    }
    if (this.#stops === stops) this.#beatLater();
  }
}
