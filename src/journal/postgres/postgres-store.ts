/**
 * A journal in PostgreSQL below its protocol: what is shared, what is asked alone, and what is in flight.
 * Owns: the batcher, the lease, the listener, and which operations this process has claimed and not ended.
 */

import { KernelError } from "../../domain/errors.ts";
import type { ClaimRequest, FinishRequest, JournalEvidence, Released } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import type { Lease } from "../store-options.ts";
import type { StoredEntry } from "../stored-entry.ts";
import type { Connections, Statement } from "./connections.ts";
import { entryColumns, type Row, readEntryRow, readEvidenceRow } from "./entry-rows.ts";
import { OwnerLease } from "./owner-lease.ts";
import type { OwnedPool } from "./pool.ts";
import { isRefused, toJournalError } from "./postgres-errors.ts";
import { type SharedAnswer, type SharedStep, sendSteps } from "./postgres-steps.ts";
import { ReleaseListener } from "./release-listener.ts";
import { StepBatcher } from "./step-batcher.ts";

/** What a store is made of. */
export interface PostgresStoreParts {
  readonly owned: OwnedPool;
  readonly connections: Connections;
  readonly schema: string;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly onReleased: (released: Released) => void;
}

/** See the file header. */
export class PostgresStore {
  readonly schema: string;
  readonly lease: OwnerLease;
  readonly #parts: PostgresStoreParts;
  readonly #batcher: StepBatcher<SharedStep, SharedAnswer>;
  readonly #listener: ReleaseListener;
  readonly #held = new Map<string, readonly string[]>();
  /** Attempts that were last told to wait. */
  readonly #inLine = new Set<string>();
  #isClosed = false;

  constructor(parts: PostgresStoreParts) {
    const { owned, connections, schema, clock, lease, onReleased } = parts;
    this.#parts = parts;
    this.schema = schema;
    this.lease = new OwnerLease({ connections, schema, clock, lease });
    const ports = { connections, schema, clock, lease: this.lease, leaseMs: lease.leaseMs };
    this.#batcher = new StepBatcher((steps) => sendSteps(ports, steps), isRefused);
    this.#listener = new ReleaseListener({ pool: owned.pool, channel: `toolkernel_${schema}`, onReleased });
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Claims together with what else is claimed and ended at the moment. */
  async claim(request: ClaimRequest): Promise<SharedAnswer> {
    if (await this.#isInVain(request)) return { kind: "waiting", fence: 0 };
    const scopes = request.scopes.map(({ id }) => id);
    const answer = await this.#share({ kind: "claim", request }, [request.operationId, ...scopes]);
    if (answer.kind === "claimed") this.#hold(request.operationId, scopes);
    if (answer.kind !== "waiting") this.#inLine.delete(request.claimId);
    else {
      this.#inLine.add(request.claimId);
      this.#listener.listen();
    }
    return answer;
  }

  /** Takes notice that an attempt no longer stands in line. */
  leaveLine(claimId: string): void {
    this.#inLine.delete(claimId);
  }

  /** Ends, or doubts, an operation together with what else is claimed and ended at the moment. */
  async end(request: FinishRequest): Promise<SharedAnswer> {
    const { operationId } = request;
    const answer = await this.#share({ kind: "end", request }, [operationId, ...(this.#held.get(operationId) ?? [])]);
    if (answer.kind === "saved") await this.release(operationId);
    return answer;
  }

  /** Takes a statement of its own; see `Connections.once`. */
  async once(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    this.#checkOpen();
    return (await this.#parts.connections.once({ text, values })).rows;
  }

  /** Takes a statement of its own that may be taken twice. */
  async repeatable(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    this.#checkOpen();
    const statement: Statement = { text, values };
    try {
      return (await this.#parts.connections.repeatable(statement)).rows;
    } catch (error) {
      throw toJournalError(error);
    }
  }

  /** The entry of an operation id. */
  async find(operationId: string): Promise<StoredEntry | undefined> {
    const [row] = await this.repeatable(
      `SELECT ${entryColumns(this.schema, "e")} FROM ${this.schema}.entries e WHERE operation_id = $1`,
      operationId,
    );
    return row && readEntryRow(row);
  }

  /** What was kept beside a receipt. */
  async listEvidence(operationId: string): Promise<readonly JournalEvidence[]> {
    const rows = await this.repeatable(
      `SELECT operation_id, kind, fence::text, content, at_ms::text, content_sum = ${this.schema}.sum_of(kind, content) AS is_whole
       FROM ${this.schema}.evidence WHERE operation_id = $1 ORDER BY place`,
      operationId,
    );
    return rows.map(readEvidenceRow);
  }

  /** Takes notice that an operation is no longer in flight here, and tells those who wait. */
  async release(operationId: string): Promise<void> {
    const held = this.#held.get(operationId);
    if (held !== undefined) this.lease.leave();
    this.#held.delete(operationId);
    const scopes = held ?? (await this.find(operationId))?.scopes ?? [];
    this.#parts.onReleased({ operationId, scopes });
  }

  /** Lets what was submitted be answered, ends the lease and closes; a pool that the host passed stays open. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#batcher.idle();
    // A lease that cannot be ended runs out by itself.
    await this.lease.end().catch(() => undefined);
    this.#listener.close();
    await this.#parts.owned.end();
  }

  async #share(step: SharedStep, names: readonly string[]): Promise<SharedAnswer> {
    this.#checkOpen();
    try {
      return await this.#batcher.submit(step, names);
    } catch (error) {
      throw toJournalError(error);
    }
  }

  /** Those who wait look often, and mostly in vain; a step that is under way may change what they find. */
  async #isInVain({ operationId, claimId, scopes }: ClaimRequest): Promise<boolean> {
    if (!this.#inLine.has(claimId) || !this.#batcher.isIdle) return false;
    const ids = scopes.map(({ id }) => id);
    const [row] = await this.repeatable(
      `SELECT ${this.schema}.still_waits($1, $2, $3) AS answer`,
      operationId,
      claimId,
      ids,
    );
    return row?.answer === true;
  }

  #hold(operationId: string, scopes: readonly string[]): void {
    if (!this.#held.has(operationId)) this.lease.enter();
    this.#held.set(operationId, scopes);
  }

  #checkOpen(): void {
    if (this.#isClosed)
      throw new KernelError("JOURNAL_UNAVAILABLE", "The PostgreSQL journal is closed; open it again.");
  }
}
