/** The entry `toolkernel/testing`: what hosts test their own tools, hooks and handlers with. */
export {
  type ControllableTool,
  type ControllableToolOptions,
  type ControlledCall,
  controllableTool,
} from "./controllable-tool.ts";
export { testJournal } from "./journal-suite.ts";
export { recordedModel } from "./recorded-model.ts";
export { type ScriptedResponse, scriptedModel } from "./scripted-model.ts";
export { type SimulatedClock, simulatedClock } from "./simulated-clock.ts";
