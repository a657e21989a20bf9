export { actionMachine } from "./action.machine.ts";
export { batchMachine } from "./batch.machine.ts";
export { epochMachine } from "./epoch.machine.ts";
export { toolCallMachine } from "./tool-call.machine.ts";
