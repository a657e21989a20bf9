import { afterAll, beforeAll, describe, it } from "vitest";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";
import { makeDatabase, type TestDatabase } from "../support/postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await makeDatabase();
}, 60_000);

afterAll(() => database.drop());

describe("the PostgreSQL run store keeps to the contract", () => {
  for (const { name, run } of testRunStore(() => openPostgresRunStore(database.url))) it(name, run);
});
