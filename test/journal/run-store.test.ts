import { describe, it } from "vitest";
import { memoryRunStore } from "../../src/journal/run-store/memory.ts";
import { testRunStore } from "../../src/testing/run-store-suite.ts";

describe("the memory run store keeps to the contract", () => {
  for (const { name, run } of testRunStore(async () => memoryRunStore())) it(name, run);
});
