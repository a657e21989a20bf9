import type { SqliteDatabase } from "./driver.ts";

/** Ends a transaction that failed; SQLite may have ended it by itself already. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There was nothing left to roll back.
  }
}
