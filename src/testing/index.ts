/** The entry `toolkernel/testing`: what hosts test their own tools, hooks and handlers with. */
export { assertOrder } from "./assert-order.ts";
export type {
  BatchPath,
  BatchPathsOptions,
  PathHooks,
  PathOutcome,
  PathStep,
} from "./batch-paths/path-options.ts";
export { generateBatchPaths } from "./batch-paths.ts";
export {
  type ControllableTool,
  type ControllableToolOptions,
  type ControlledCall,
  controllableTool,
} from "./controllable-tool.ts";
export { testJournal } from "./journal-suite.ts";
export { recordedModel } from "./recorded-model.ts";
export { RuleViolation } from "./rule-violation.ts";
export { testRunStore } from "./run-store-suite.ts";
export { type ScriptedResponse, scriptedModel } from "./scripted-model.ts";
export { type SimulatedClock, simulatedClock } from "./simulated-clock.ts";
