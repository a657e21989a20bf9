import { afterAll, beforeAll, describe, it } from "vitest";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { testJournal } from "../../src/testing/journal-suite.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.drop());

describe("the PostgreSQL journal keeps to the protocol", () => {
  for (const { name, run } of testJournal(() => openPostgresJournal(database.url))) it(name, run);
});
