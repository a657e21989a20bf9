import type { Interpreter } from "../../src/run/chart-actor.ts";

/** Stands in for the kernel's own default where the whole suite is run on XState's actors; see `vitest.config.ts`. */
export const DEFAULT_INTERPRETER: Interpreter = "xstate";
