/** What mutants are held to: the tests that are about the parts that are mutated, without stores, servers and pages. */
import type { Plugin } from "vite";
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";
import { fileNotes, QuickFirst } from "./quick-first.ts";
import { warmPool } from "./warm-pool.ts";

const { globalSetup: _servers, include: _all, setupFiles: _leaks, ...shared } = base.test ?? {};

/**
 * Tests by what is mutated, as `MUTATED` says: a mutant that none finds costs the time of all tests that come by it.
 * A chart's literal is read once, so that nobody can say which tests it matters to: its mutants meet all that there
 * are, and so only those by pure transition. Where mutants that live are met again, it is with the tests of pieces.
 */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  machines: ["test/machines/*.test.ts", "test/journal/transitions.test.ts"],
  prepare: [
    "test/{machines,prepare}/*.test.ts",
    "test/journeys/cases-{arguments,attacks}.test.ts",
    "test/rules/{obs,operation-ids,options,prep,run-options}*.test.ts",
  ],
  run: ["test/{actions,journeys,rules,run}/*.test.ts"],
  units: [
    "test/{machines,plan,prepare,repeat,run,settle}/*.test.ts",
    "test/actions/project-receipt.test.ts",
    "test/rules/run-{close,model-*,prepare}.test.ts",
  ],
  stages: ["test/{actions,journeys,plan,repeat,rules,settle}/*.test.ts"],
};
const part = process.env.MUTATED_AGAIN === "1" ? "units" : process.env.MUTATED;
const tests = TESTS[part ?? ""] ?? [...new Set(Object.values(TESTS).flat())];

const isOfMutants = process.env.STRYKER_MUTATOR_WORKER !== undefined;

// StrykerJS names the pool itself, so that it can only be changed afterwards.
const warmth: Plugin = {
  name: "warm",
  configureVitest({ project }) {
    if (isOfMutants) Object.assign(project.config, { pool: warmPool.name, poolRunner: warmPool });
  },
};

export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    plugins: [warmth],
    test: {
      dir: ".",
      // Files share their modules: to load the kernel anew for each would take most of the time.
      isolate: false,
      include: [...tests],
      // Each takes longer than a mutant may cost, and goes over ground that the others go over too.
      exclude: [
        "test/journeys/{agent-long,agent-random,growth}.test.ts",
        "test/machines/old-graph.test.ts",
        "test/rules/{can-5,can-5-lost,run-6-crashes}.test.ts",
        "**/node_modules/**",
      ],
      setupFiles: ["test/mutation/few-runs.ts"],
      env: { MODEL_SCALE: "small" },
      // What has been stopped from ever ending is found by that.
      testTimeout: process.env.MUTATED === "run" ? 1_500 : 4_000,
      sequence: { sequencer: QuickFirst },
      reporters: isOfMutants ? [fileNotes] : ["default"],
    },
  }),
);
