import { KernelError } from "../../domain/errors.ts";
import type { Connections, Statement } from "./connections.ts";
import type { PostgresResult } from "./pool.ts";
import { toJournalError } from "./postgres-errors.ts";

const OLDEST_VERSION = 130_000;

/**
 * Refuses a server on which an acknowledged commit could be lost, or that is not the one it was.
 * @throws KernelError `JOURNAL_UNSAFE` saying which setting it is, `JOURNAL_*` when it cannot be asked.
 */
export async function checkServer(connections: Connections): Promise<void> {
  const { rows } = await connections.once({
    text: `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes, pg_is_in_recovery() AS is_standby,
      current_setting('server_encoding') AS encoding`,
  });
  const server = rows[0] ?? {};
  if (Number(server.version) < OLDEST_VERSION) throw unsafe("is older than PostgreSQL 13");
  if (server.fsync !== "on") throw unsafe("has fsync off");
  if (server.full_page_writes !== "on") throw unsafe("has full_page_writes off");
  if (server.is_standby !== false) throw unsafe("is a read-only standby");
  if (server.encoding !== "UTF8") throw unsafe("does not use the encoding UTF8");
}

/**
 * Refuses a server that was failed over to or restored since the journal was last opened: commits that had
 * been acknowledged may be missing there, so that "absent" no longer proves "never dispatched".
 * @throws KernelError `JOURNAL_UNSAFE` saying how to accept it.
 */
export async function checkIncarnation(connections: Connections, schema: string): Promise<void> {
  const asked = await ask(connections, {
    text: "SELECT has_function_privilege('pg_control_system()', 'execute') AS may_ask",
  });
  if (asked.rows[0]?.may_ask !== true) return; // some hosting providers keep it to themselves
  const { rows } = await ask(connections, {
    text: `SELECT journal.system_identifier AS known_system, journal.timeline AS known_timeline, system.system_identifier::text AS system,
      ${schema}.server_timeline() AS timeline FROM ${schema}.journal, pg_control_system() AS system`,
  });
  const row = rows[0];
  if (row === undefined)
    throw new KernelError("JOURNAL_CORRUPT", `The PostgreSQL schema ${schema} does not say which journal it is.`);
  if (row.known_system === null) {
    await ask(connections, {
      text: `UPDATE ${schema}.journal SET system_identifier = $1, timeline = $2 WHERE system_identifier IS NULL`,
      values: [row.system, row.timeline],
    });
    return;
  }
  if (row.known_system === row.system && row.known_timeline === row.timeline) return;
  throw unsafe(
    `was restored or failed over since the journal was written; actions it had acknowledged may be missing. Reconcile the open runs, and then accept it: UPDATE ${schema}.journal SET system_identifier = NULL`,
  );
}

async function ask(connections: Connections, statement: Statement): Promise<PostgresResult> {
  try {
    return await connections.repeatable(statement);
  } catch (error) {
    throw toJournalError(error);
  }
}

function unsafe(what: string): KernelError {
  return new KernelError("JOURNAL_UNSAFE", `The PostgreSQL server ${what}.`);
}
