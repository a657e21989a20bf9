import { checkGiven, mustHaveMethods } from "../../domain/check-options.ts";
import { KernelError } from "../../domain/errors.ts";
import type { EvidenceContents, MovedCounts, RunContents, ScopeContents, StoreContents } from "../store-contents.ts";
import type { StoredEntry } from "../stored-entry.ts";
import { type OpenPostgres, openPostgres, type PostgresStoreOptions } from "./open-postgres.ts";
import type { PoolOrConfig, PostgresClient } from "./pool.ts";
import { toJournalError } from "./postgres-errors.ts";

/**
 * Fills an empty PostgreSQL journal and run store with what another store holds, in one transaction, and
 * returns how much that was. Entries get there along the edges of the action chart (ACT-2), fences stay.
 * @throws KernelError `INVALID_OPTIONS` when the schema holds anything already; `JOURNAL_*` as
 * `openPostgresJournal` does; and what reading the contents throws.
 */
export async function fillPostgresStore(
  poolOrConfig: PoolOrConfig,
  contents: StoreContents,
  options: PostgresStoreOptions = {},
): Promise<MovedCounts> {
  checkGiven(contents, "contents", mustHaveMethods("scopes", "entries", "evidence", "runs", "facts"));
  return openPostgres(poolOrConfig, options, async (opened) => {
    const counts = await inTransaction(opened, (client) => fill(client, contents));
    await opened.owned.end();
    return counts;
  });
}

/** One transaction, however long it takes. */
async function inTransaction<Answer>(
  { owned, schema }: OpenPostgres,
  work: (client: PostgresClient) => Promise<Answer>,
): Promise<Answer> {
  const client = await owned.pool.connect();
  const ignore = (): void => undefined;
  client.on("error", ignore);
  try {
    await client.query("BEGIN");
    await client.query(`SET LOCAL search_path TO ${schema}, pg_catalog`);
    await client.query("SELECT make_durable()");
    const answer = await work(client);
    await client.query("COMMIT");
    return answer;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined); // the first error says more
    throw toJournalError(error);
  } finally {
    client.removeListener("error", ignore);
    client.release();
  }
}

async function fill(client: PostgresClient, contents: StoreContents): Promise<MovedCounts> {
  await client.query("LOCK TABLE entries, scopes, evidence, runs, facts IN EXCLUSIVE MODE");
  const { rows } = await client.query(
    "SELECT EXISTS (SELECT 1 FROM entries) OR EXISTS (SELECT 1 FROM scopes) OR EXISTS (SELECT 1 FROM runs) AS is_used",
  );
  if (rows[0]?.is_used !== false) throw notEmpty();
  const counts = { entries: 0, scopes: 0, evidence: 0, runs: 0, facts: 0 };
  for (const page of contents.scopes()) counts.scopes += await addScopes(client, page);
  for (const page of contents.entries()) counts.entries += await addEntries(client, page);
  for (const page of contents.evidence()) counts.evidence += await addEvidence(client, page);
  for (const run of contents.runs()) {
    counts.facts += await addRun(client, run, contents.facts(run.runId));
    counts.runs += 1;
  }
  return counts;
}

async function addScopes(client: PostgresClient, page: readonly ScopeContents[]): Promise<number> {
  await client.query(
    "INSERT INTO scopes (scope, name, fence) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])",
    [page.map(({ id }) => id), page.map(({ name }) => name), page.map(({ fence }) => fence)],
  );
  return page.length;
}

async function addEntries(client: PostgresClient, page: readonly StoredEntry[]): Promise<number> {
  await client.query(
    `INSERT INTO entries (operation_id, state, fence, owner, claim_id, intent_hash, intent, intent_sum, scopes, created_at_ms, updated_at_ms)
     SELECT e.id, CASE e.state WHEN 'abandoned' THEN 'prepared' ELSE 'dispatched' END, e.fence, e.owner, e.claim, e.hash,
       e.intent, sum_of(e.id, e.intent), string_to_array(e.scopes, ' '), e.created, e.updated
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[])
       AS e (id, state, fence, owner, claim, hash, intent, scopes, created, updated)`,
    [
      page.map(({ operationId }) => operationId),
      page.map(({ state }) => state),
      page.map(({ fence }) => fence),
      page.map(({ owner }) => owner),
      page.map(({ claimId }) => claimId),
      page.map(({ intentHash }) => intentHash),
      page.map(({ intentText }) => intentText),
      page.map(({ scopes }) => scopes.join(" ")),
      page.map(({ createdAtMs }) => createdAtMs),
      page.map(({ updatedAtMs }) => updatedAtMs),
    ],
  );
  await client.query(
    `UPDATE entries SET state = e.state, receipt = e.receipt,
       receipt_sum = CASE WHEN e.receipt IS NOT NULL THEN sum_of(e.id, e.state, e.receipt) END
     FROM unnest($1::text[], $2::text[], $3::text[]) AS e (id, state, receipt) WHERE operation_id = e.id`,
    [
      page.map(({ operationId }) => operationId),
      page.map(({ state }) => state),
      page.map(({ receiptText }) => receiptText),
    ],
  );
  const forgotten = page.filter(({ isForgotten }) => isForgotten).map(({ operationId }) => operationId);
  await client.query("UPDATE entries SET is_forgotten = true WHERE operation_id = ANY ($1)", [forgotten]);
  return page.length;
}

async function addEvidence(client: PostgresClient, page: readonly EvidenceContents[]): Promise<number> {
  const texts = page.map(({ content }) => JSON.stringify(content));
  await client.query(
    `INSERT INTO evidence (operation_id, kind, fence, content, content_sum, at_ms)
     SELECT e.id, e.kind, e.fence, e.content, sum_of(e.kind, e.content), e.at
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY AS e (id, kind, fence, content, at, n) ORDER BY e.n`,
    [
      page.map(({ operationId }) => operationId),
      page.map(({ kind }) => kind),
      page.map(({ fence }) => fence),
      texts,
      page.map(({ atMs }) => atMs),
    ],
  );
  return page.length;
}

async function addRun(client: PostgresClient, run: RunContents, texts: readonly string[]): Promise<number> {
  const { runId, status, turn, fence, createdAtMs, updatedAtMs } = run;
  await client.query(
    "INSERT INTO runs (run_id, status, turn, facts, fence, created_at_ms, updated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    [runId, status, turn, texts.length, fence, createdAtMs, updatedAtMs],
  );
  await client.query(
    `INSERT INTO facts (run_id, seq, body, body_sum)
     SELECT $1::text, f.n, f.body, sum_of($1::text, f.n::text, f.body) FROM unnest($2::text[]) WITH ORDINALITY AS f (body, n)`,
    [runId, [...texts]],
  );
  return texts.length;
}

function notEmpty(): KernelError {
  const message = "The PostgreSQL schema holds operations or runs already; move a journal into an empty schema.";
  return new KernelError("INVALID_OPTIONS", message, { subject: "schema" });
}
