import { forgetArguments } from "../stored-entry.ts";
import type { PostgresStore } from "./postgres-store.ts";

/** Most entries that one statement makes forget, and that one look goes through. */
const PRUNE_AT_ONCE = 200;
const LOOK_AT_ONCE = 2_000;

/** Entries that are to forget, with the intents that they keep; `next` is missing when all were looked at. */
interface OldEntries {
  readonly entries: readonly { readonly id: string; readonly intent: string }[];
  readonly next: string | undefined;
}

/**
 * Makes final entries last changed before a time forget arguments, receipt and evidence (ACT-10): once through
 * all entries in order of their ids, a few in each statement. Returns how many.
 */
export async function pruneEntries(store: PostgresStore, finalBefore: number): Promise<number> {
  let pruned = 0;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { entries, next }: OldEntries = await lookForOld(store, finalBefore, after);
    pruned += await forget(store, entries);
    after = next;
  }
  return pruned;
}

async function lookForOld(store: PostgresStore, finalBefore: number, after: string): Promise<OldEntries> {
  const rows = await store.repeatable(
    `WITH looked AS (
       SELECT * FROM ${store.schema}.entries WHERE operation_id > $2 ORDER BY operation_id LIMIT ${LOOK_AT_ONCE}),
     old AS (
       SELECT operation_id, intent FROM looked WHERE state IN ('committed', 'rejected', 'failed') AND NOT is_forgotten
         AND updated_at_ms < $1 ORDER BY operation_id LIMIT ${PRUNE_AT_ONCE})
     SELECT (SELECT max(operation_id) FROM looked) AS last, operation_id, intent
     FROM (SELECT) AS one LEFT JOIN old ON true ORDER BY operation_id`,
    finalBefore,
    after,
  );
  const entries = rows.flatMap(({ operation_id: id, intent }) =>
    id === null ? [] : [{ id: String(id), intent: forgetArguments(String(intent)) }],
  );
  const last = rows[0]?.last;
  if (typeof last !== "string") return { entries, next: undefined };
  return { entries, next: entries.length < PRUNE_AT_ONCE ? last : entries.at(-1)?.id };
}

async function forget(store: PostgresStore, entries: OldEntries["entries"]): Promise<number> {
  if (entries.length === 0) return 0;
  await store.repeatable(
    `WITH old AS (SELECT * FROM unnest($1::text[], $2::text[]) AS t (id, intent)),
     gone AS (DELETE FROM ${store.schema}.evidence WHERE operation_id = ANY ($1))
     UPDATE ${store.schema}.entries e SET is_forgotten = true, receipt = NULL, receipt_sum = NULL, intent = old.intent,
       intent_sum = ${store.schema}.sum_of(old.id, old.intent) FROM old WHERE e.operation_id = old.id AND NOT e.is_forgotten`,
    entries.map(({ id }) => id),
    entries.map(({ intent }) => intent),
  );
  return entries.length;
}
