/**
 * Bugs, planted one at a time: in a chart, in a pure function of scheduling, in a driver. Each breaks a rule in
 * a way that somebody could write by mistake; `planted-bugs.test.ts` demands that the suites find every one.
 */
import { CHART_BUGS } from "./planted-chart-bugs.ts";
import { CODE_BUGS } from "./planted-code-bugs.ts";

/** Which suite has to find a bug. */
export type Finder = "call" | "epoch" | "batch" | "run" | "action" | "explored" | "paired";

/** A module of the kernel, by its path from the project's root, as altered by a bug. */
export interface PlantedModule {
  readonly path: string;
  /** Gives what the module exports in place of the original's. */
  alter(original: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** One bug. */
export interface PlantedBug {
  readonly name: string;
  readonly rule: string;
  readonly module: PlantedModule;
  readonly foundBy: readonly Finder[];
}

/** Every bug, with a name of its own. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...CHART_BUGS, ...CODE_BUGS];
