import { afterAll, beforeAll } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { makeDatabase, type TestDatabase } from "./postgres.ts";

/** The database of a test file, and names in it. */
export interface PostgresScene {
  readonly database: Omit<TestDatabase, "drop">;
  /** A schema of one test's own. */
  newSchema(): string;
}

/** A database that is made before the tests of a file and dropped behind them. */
export function setPostgresScene(): PostgresScene {
  let made: TestDatabase | undefined;
  let schemas = 0;
  beforeAll(async () => {
    made = await makeDatabase();
  });
  afterAll(() => made?.drop());
  const current = (): TestDatabase => {
    if (made === undefined) throw new Error("the database is there while tests run");
    return made;
  };
  return {
    database: {
      get url() {
        return current().url;
      },
      query: (sql, values) => current().query(sql, values),
    },
    newSchema: () => {
      schemas += 1;
      return `schema_${schemas}`;
    },
  };
}

/** A dispatcher whose every operation is committed with its id. */
export function dispatcherOn(journal: Journal): GameActionDispatcher {
  return new GameActionDispatcher({
    journal,
    handler: { execute: (intent) => GameActionReceipt.committed(intent, { done: intent.operationId }) },
  });
}

/** The code by which an opening is refused; `opened` where it is not, and then closed again. */
export async function refusal(opening: Promise<{ close(): Promise<void> }>): Promise<unknown> {
  try {
    await (await opening).close();
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
  return "opened";
}
