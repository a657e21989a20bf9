import { KernelError } from "../../domain/errors.ts";
import type { JournalEvidence, JournalState } from "../../domain/journal.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { StoredEntry } from "../stored-entry.ts";

/** A row of a statement. */
export type Row = Readonly<Record<string, unknown>>;

/** The columns of an entry under an alias, with the database's own check of its sums. */
export function entryColumns(schema: string, alias: string): string {
  const sum = (column: string, ...parts: readonly string[]): string =>
    `${alias}.${column} IS NOT DISTINCT FROM ${schema}.sum_of(${parts.map((part) => `${alias}.${part}`).join(", ")})`;
  return `${alias}.operation_id, ${alias}.state, ${alias}.fence::text, ${alias}.owner::text, ${alias}.claim_id, ${alias}.intent_hash,
    ${alias}.intent, ${alias}.scopes, ${alias}.receipt, (extract(epoch FROM ${alias}.held_until) * 1000)::float8 AS held_until_ms,
    ${alias}.is_forgotten, ${alias}.created_at_ms::text, ${alias}.updated_at_ms::text,
    ${sum("intent_sum", "operation_id", "intent")} AND (${alias}.receipt IS NULL OR ${sum("receipt_sum", "operation_id", "state", "receipt")}) AS is_whole`;
}

/** @throws KernelError `JOURNAL_CORRUPT` when the row is not what was written. */
export function readEntryRow(row: Row): StoredEntry {
  const operationId = String(row.operation_id);
  if (row.is_whole !== true) throw corrupt(operationId);
  return {
    operationId,
    state: row.state as JournalState, // the schema lets no other in
    fence: Number(row.fence),
    owner: String(row.owner),
    claimId: String(row.claim_id),
    intentHash: String(row.intent_hash),
    intentText: String(row.intent),
    scopes: row.scopes as readonly string[], // an array of strings
    receiptText: row.receipt === null ? null : String(row.receipt),
    heldUntilMs: row.held_until_ms === null ? null : Number(row.held_until_ms),
    isForgotten: row.is_forgotten === true,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: Number(row.updated_at_ms),
  };
}

/** @throws KernelError `JOURNAL_CORRUPT` when the row is not what was written. */
export function readEvidenceRow(row: Row): JournalEvidence {
  if (row.is_whole !== true) throw corrupt(String(row.operation_id));
  return {
    kind: row.kind as JournalEvidence["kind"], // written by addEvidence
    fence: Number(row.fence),
    content: JSON.parse(String(row.content)) as JsonValue, // written as JSON
    atMs: Number(row.at_ms),
  };
}

function corrupt(operationId: string): KernelError {
  return new KernelError(
    "JOURNAL_CORRUPT",
    `What the journal holds of operation ${operationId} is not what was written. Nothing is dispatched on it; restore the journal from a copy.`,
    { subject: `operation ${operationId}` },
  );
}
