import { KernelError } from "../../domain/errors.ts";
import type { Connections } from "./connections.ts";
import type { PostgresClient } from "./pool.ts";
import { CLAIMING_001 } from "./sql/001-claiming.ts";
import { ENDING_001 } from "./sql/001-ending.ts";
import { TABLES_001 } from "./sql/001-tables.ts";
import { RUNS_002 } from "./sql/002-runs.ts";
import { MOVING_GROUND_003 } from "./sql/003-moving-ground.ts";

/**
 * Every step from an empty schema to today's, in order. One numbering for all that toolkernel keeps in a
 * database, since journal and run store may share one. `$schema$` stands for the schema's name.
 */
export const MIGRATIONS: readonly string[] = Object.freeze([
  `${TABLES_001}${CLAIMING_001}${ENDING_001}`,
  RUNS_002,
  MOVING_GROUND_003,
]);

/** What to migrate, and by which steps. */
export interface MigrationRequest {
  readonly connections: Connections;
  readonly schema: string;
  readonly migrations: readonly string[];
}

/**
 * Brings a schema to today's version, in one transaction, so that of several processes one does it.
 * @throws KernelError `JOURNAL_VERSION` when it is of a newer version; it is left untouched. `JOURNAL_*`.
 */
export async function migrate({ connections, schema, migrations }: MigrationRequest): Promise<void> {
  if ((await connections.together((client) => readVersion(client, schema))) === migrations.length) return;
  await connections.together(async (client) => {
    await client.query("BEGIN");
    try {
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 7))", [`toolkernel:${schema}`]);
      // Another process may have been first.
      const version = await readVersion(client, schema);
      if (version > migrations.length) throw newer(schema, version, migrations.length);
      if (version === 0) await begin(client, schema);
      await client.query(`SET LOCAL search_path TO ${schema}, pg_catalog`);
      for (const step of migrations.slice(version)) await client.query(step.replaceAll("$schema$", schema));
      await client.query("UPDATE schema_version SET version = $1", [migrations.length]);
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined); // the first error says more
      throw error;
    }
  });
}

/** @throws KernelError `INVALID_OPTIONS` when nothing of toolkernel is in a schema; nothing is made. */
export async function refuseAbsent(connections: Connections, schema: string): Promise<void> {
  if ((await connections.together((client) => readVersion(client, schema))) > 0) return;
  const message = `The PostgreSQL schema ${schema} holds no journal; none was created.`;
  throw new KernelError("INVALID_OPTIONS", message, { subject: "schema" });
}

/** The version of a schema, 0 when it is not there. */
async function readVersion(client: PostgresClient, schema: string): Promise<number> {
  // Asked of the tables themselves: names that a connection has looked for in vain stay unknown to it for a while.
  const found = await client.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'schema_version'",
    [schema],
  );
  if (found.rows.length === 0) return 0;
  const { rows } = await client.query(`SELECT version FROM ${schema}.schema_version`);
  return Number(rows[0]?.version ?? 0);
}

async function begin(client: PostgresClient, schema: string): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await client.query(`CREATE TABLE ${schema}.schema_version (version integer NOT NULL)`);
  await client.query(`INSERT INTO ${schema}.schema_version VALUES (0)`);
}

function newer(schema: string, found: number, newest: number): KernelError {
  return new KernelError(
    "JOURNAL_VERSION",
    `The PostgreSQL schema ${schema} has version ${found}; this toolkernel knows versions up to ${newest}. Use the newer toolkernel.`,
    { subject: schema },
  );
}
