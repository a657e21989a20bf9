import type { Interpreter } from "./chart-actor.ts";

/** What runs the charts when the host says nothing. A module of its own, so that the whole suite can be run on the other. */
export const DEFAULT_INTERPRETER: Interpreter = "compiled";
