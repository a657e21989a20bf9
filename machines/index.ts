export { actionMachine } from "./action.machine.ts";
export { batchMachine } from "./batch.machine.ts";
export { epochMachine } from "./epoch.machine.ts";
export { runMachine } from "./run.machine.ts";
export { toolCallMachine } from "./tool-call.machine.ts";
