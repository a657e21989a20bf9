import { describe, it } from "vitest";
import { memoryRunStore } from "../../src/journal/run-store/memory.ts";
import { openSqliteRunStore } from "../../src/journal/sqlite/index.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

describe("the memory run store keeps to the contract", () => {
  for (const { name, run } of testRunStore(async () => memoryRunStore())) it(name, run);
});

describe("the SQLite run store keeps to the contract", () => {
  const open = () => openSqliteRunStore(`${temporaryDirectory()}/runs.db`);
  for (const { name, run } of testRunStore(open)) it(name, run);
});
