/** Copies of the kernel with a bug in them, and the bug that a person asks for by `MODEL_BUG`. */
import { vi } from "vitest";
import { ROOT } from "../support/syntax.ts";
import { type Kernel, loadKernel } from "./kernel.ts";
import { PLANTED_BUGS, type PlantedBug } from "./planted-bugs.ts";
import type { SchedulerParts } from "./scheduler-state.ts";

/** A copy of the kernel, and of what is composed of its parts, with the bug in it. */
export async function plantBug({ module: { path, alter } }: PlantedBug): Promise<Kernel> {
  vi.resetModules();
  vi.doMock(ROOT + path, async (importOriginal) => alter(await importOriginal<Readonly<Record<string, unknown>>>()));
  return loadKernel();
}

/** Takes every planted bug out again. */
export function removeBugs(): void {
  for (const { module } of PLANTED_BUGS) vi.doUnmock(ROOT + module.path);
  vi.resetModules();
}

/** The parts of the scheduler as they are now, a planted bug among them. */
export async function loadParts(): Promise<SchedulerParts> {
  return (await import("./scheduler-parts.ts")).REAL_PARTS;
}

/** The kernel that is to be held to its charts: with the bug of `MODEL_BUG`, if one is named. */
export async function loadSubject(): Promise<Kernel> {
  const name = process.env.MODEL_BUG ?? "";
  if (name === "") return loadKernel();
  const bug = PLANTED_BUGS.find((each) => each.name === name);
  if (bug !== undefined) return plantBug(bug);
  const names = PLANTED_BUGS.map((each) => each.name).join("\n  ");
  throw new Error(`MODEL_BUG names no planted bug; they are\n  ${names}`);
}
