import { type Journal, memoryJournal, memoryRunStore } from "toolkernel";
import {
  assertOrder,
  controllableTool,
  generateBatchPaths,
  RuleViolation,
  recordedModel,
  scriptedModel,
  simulatedClock,
  testJournal,
  testRunStore,
} from "toolkernel/testing";
import { wholeTool } from "./core-tools.ts";
import { copyOf, EVENTS } from "./observe-calls.ts";
import { type PublicCall, publicCall } from "./public-call.ts";

const { recover: _recover, execute: _execute, inputJsonSchema: _inputJsonSchema, ...CONTROLLED } = wholeTool();
const PATHS = () => ({
  tools: [{ ...CONTROLLED, execute: () => 1 }],
  calls: [{ id: "a", name: "take", arguments: { item: "x" } }],
  session: { toolExecution: "parallel" },
  outcomes: ["succeeds"],
  cancel: false,
  maxPaths: 1,
  seed: 1,
});

async function runAll(paths: Iterable<{ run(): Promise<unknown> }>): Promise<void> {
  for (const path of paths) await path.run();
}

/** What hosts test with. */
export const TESTING_CALLS: Readonly<Record<string, readonly PublicCall[]>> = {
  RuleViolation: [
    publicCall("new RuleViolation", (): [string, string] => ["X-1", "x"], {
      of: (rule, what) => new RuleViolation(rule, what),
    }),
  ],
  assertOrder: [
    publicCall("assertOrder", (): [typeof EVENTS] => [copyOf(EVENTS)], {
      of: (events) => {
        try {
          assertOrder(events);
        } catch (error) {
          if (!(error instanceof RuleViolation)) throw error;
        }
      },
    }),
  ],
  controllableTool: [
    publicCall("controllableTool", (): [typeof CONTROLLED] => [{ ...CONTROLLED }], {
      of: (options) => controllableTool(options as never),
      closed: ["0"],
      shown: ["0.name"],
    }),
  ],
  generateBatchPaths: [
    publicCall("generateBatchPaths", (): [object] => [PATHS()], {
      of: (options) => generateBatchPaths(options as never),
      use: runAll,
      closed: ["0", "0.session"],
      shown: ["0.tools.0.name", "0.calls.0.name", "0.calls.0.id"],
    }),
    publicCall("path.run", (): [object] => [{ setup: () => 1, check: () => 1, teardown: () => 1 }], {
      of: (hooks) => [...generateBatchPaths(PATHS() as never)][0]?.run(hooks),
      closed: ["0"],
    }),
  ],
  recordedModel: [
    publicCall("recordedModel", (): [URL] => [new URL("recorded-response.json", import.meta.url)], {
      of: (file) => recordedModel(file),
      shown: ["0"],
    }),
  ],
  scriptedModel: [
    publicCall("scriptedModel", (): [readonly object[]] => [[{ content: [], stopReason: "stop" }]], {
      of: (responses) => scriptedModel(responses as never),
    }),
  ],
  simulatedClock: [
    publicCall("simulatedClock().advance", (): [number] => [1], { of: (ms) => simulatedClock().advance(ms) }),
    publicCall("simulatedClock().clock.setTimer", (): [number, () => void] => [1, () => undefined], {
      of: (atMs, run) => {
        const simulated = simulatedClock();
        simulated.clock.setTimer(atMs, run);
        return simulated.advance(1);
      },
    }),
  ],
  testJournal: [
    publicCall("testJournal", (): [() => Promise<Journal>] => [async () => memoryJournal()], { of: testJournal }),
  ],
  testRunStore: [
    publicCall("testRunStore", (): [() => never] => [() => memoryRunStore() as never], { of: testRunStore }),
  ],
};
