/**
 * Runs in PostgreSQL, for many processes and hosts.
 * Owns: the appends that wait, the lease, and under which name this process has taken which run. Invariants:
 * a run is this process's until another one has taken it, which it can once the lease has run out; then
 * nothing more is recorded (RUN-6).
 */
import type { RunListing, StoredRunStatus } from "../../domain/run-store.ts";
import type { AppendRequest, GiveBackRequest, RunBackend, TakeAnswer, TakeRequest } from "../run-store/run-backend.ts";
import { runCorrupt, storeClosed } from "../run-store/run-errors.ts";
import type { Row } from "./entry-rows.ts";
import type { OpenPostgres } from "./open-postgres.ts";
import { OwnerLease } from "./owner-lease.ts";
import { isRefused, toJournalError } from "./postgres-errors.ts";
import { type AppendAnswer, type RunAppend, sendAppends } from "./run-appends.ts";
import { StepBatcher } from "./step-batcher.ts";

interface Hold {
  readonly fence: number;
  /** The name under which the run was last seen to be this process's. */
  owner: string;
  /** Whether somebody here still uses it, so that its lease is kept. */
  isInUse: boolean;
}

const PRUNE_AT_ONCE = 100;

/** See the file header. */
export class PostgresRuns implements RunBackend {
  readonly #parts: OpenPostgres;
  readonly #lease: OwnerLease;
  readonly #batcher: StepBatcher<RunAppend, AppendAnswer>;
  readonly #holds = new Map<string, Hold>();
  #isClosed = false;

  constructor(parts: OpenPostgres) {
    const { connections, schema } = parts;
    const lease = new OwnerLease(parts);
    this.#parts = parts;
    this.#lease = lease;
    this.#batcher = new StepBatcher((appends) => sendAppends({ connections, schema, lease }, appends), isRefused);
  }

  async take(request: TakeRequest): Promise<TakeAnswer> {
    const { row, owner } = await this.#named(() => this.#lease.under((name) => this.#takeAs(name, request)));
    const fence = Number(row.run_fence);
    if (row.kind === "claimed" || row.kind === "absent") return { kind: row.kind };
    this.#hold(request.runId, fence, owner);
    try {
      return { kind: "taken", fence, texts: await this.#readFacts(request.runId, Number(row.run_facts)) };
    } catch (error) {
      await this.giveBack({ runId: request.runId, fence }).catch(() => undefined); // the first error says more
      throw error;
    }
  }

  async append(request: AppendRequest): Promise<number | undefined> {
    const { runId, fence } = request;
    const hold = this.#holds.get(runId);
    if (hold?.fence !== fence) return undefined;
    const answer = await this.#named(() => this.#batcher.submit({ ...request, lastOwner: hold.owner }, [runId]));
    hold.owner = answer.owner;
    if (answer.kind === "corrupt") throw runCorrupt(runId);
    if (answer.kind === "saved") return answer.facts;
    this.#endUse(hold);
    this.#holds.delete(runId);
    return undefined;
  }

  async giveBack({ runId, fence }: GiveBackRequest): Promise<void> {
    const hold = this.#holds.get(runId);
    if (hold?.fence !== fence) return;
    this.#endUse(hold);
    const names = [hold.owner, await this.#named(() => this.#lease.owner())];
    await this.#repeatable(
      `UPDATE ${this.#parts.schema}.runs SET owner = NULL WHERE run_id = $1 AND fence = $2 AND owner = ANY ($3)`,
      runId,
      fence,
      names,
    );
    if (this.#holds.get(runId) === hold) this.#holds.delete(runId);
  }

  async listOpen(after: string, limit: number): Promise<readonly RunListing[]> {
    const { schema } = this.#parts;
    await this.#repeatable(`SELECT ${schema}.shorten_leases()`);
    const rows = await this.#repeatable(
      `SELECT run_id, status, turn, updated_at_ms::text,
         EXISTS (SELECT 1 FROM ${schema}.owners o WHERE o.owner = r.owner AND o.lease_until > clock_timestamp()) AS claimed
       FROM ${schema}.runs r WHERE status IN ('running', 'awaitingApproval') AND run_id > $1 ORDER BY run_id LIMIT $2`,
      after,
      limit,
    );
    return rows.map((row) => ({
      runId: String(row.run_id),
      status: row.status as StoredRunStatus, // written by an append
      turn: Number(row.turn),
      updatedAtMs: Number(row.updated_at_ms),
      claimed: row.claimed === true,
    }));
  }

  async prune(endedBefore: number): Promise<number> {
    for (let pruned = 0; ; ) {
      const [row] = await this.#repeatable(
        `SELECT ${this.#parts.schema}.prune_runs($1, $2) AS count`,
        endedBefore,
        PRUNE_AT_ONCE,
      );
      const count = Number(row?.count);
      pruned += count;
      if (count < PRUNE_AT_ONCE) return pruned;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#batcher.idle();
    // A lease that cannot be ended runs out by itself.
    await this.#lease.end().catch(() => undefined);
    await this.#parts.owned.end();
  }

  async #takeAs(owner: string, { runId, create }: TakeRequest): Promise<{ readonly row: Row; readonly owner: string }> {
    const { connections, schema } = this.#parts;
    const sentAtMs = this.#lease.now();
    const { rows } = await connections.repeatable({
      text: `SELECT kind, run_fence::text, run_facts::text, remaining_ms FROM ${schema}.take_run($1, $2, $3, $4)`,
      values: [owner, this.#lease.leaseMs, runId, create],
    });
    const row = rows[0] ?? {};
    this.#lease.noteRemaining(Number(row.remaining_ms), sentAtMs);
    return { row, owner };
  }

  async #readFacts(runId: string, count: number): Promise<readonly string[]> {
    const { schema } = this.#parts;
    const rows = await this.#repeatable(
      `SELECT seq::text, body, body_sum = ${schema}.sum_of(run_id, seq::text, body) AS is_whole
       FROM ${schema}.facts f WHERE run_id = $1 ORDER BY f.seq`,
      runId,
    );
    const isWhole = rows.every((row, index) => row.is_whole === true && Number(row.seq) === index + 1);
    if (rows.length !== count || !isWhole) throw runCorrupt(runId);
    return rows.map(({ body }) => String(body));
  }

  #hold(runId: string, fence: number, owner: string): void {
    const former = this.#holds.get(runId);
    if (former !== undefined) this.#endUse(former);
    this.#lease.enter();
    this.#holds.set(runId, { fence, owner, isInUse: true });
  }

  #endUse(hold: Hold): void {
    if (hold.isInUse) this.#lease.leave();
    hold.isInUse = false;
  }

  async #repeatable(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#named(() => this.#parts.connections.repeatable({ text, values }))).rows;
  }

  async #named<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw storeClosed();
    try {
      return await ask();
    } catch (error) {
      throw toJournalError(error);
    }
  }
}
