/**
 * Runs around every test: what the test has set going must have ended when it is over. Tests that own
 * real servers, child processes or browsers are left alone, since what they own ends in its own time.
 */
import { afterEach, beforeEach, expect } from "vitest";
import { forgetTracked, installRegistry, type Leftover, leftoversSince, markNow } from "./leftovers.ts";

const OWNS_REAL_RESOURCES = /[\\/]test[\\/](?:cli|journal|crash|browser)[\\/]/;
// Charts are tested there without anybody driving them to their end.
const LEAVES_CHARTS_OPEN = /[\\/]test[\\/](?:machines|model|interpreter)[\\/]/;
const TURNS_TO_SETTLE = 10;

// Taken before a test can replace it by a faked one.
const { setImmediate: nextTurn } = globalThis;

installRegistry();

let mark: ReadonlySet<unknown> = new Set();

beforeEach(() => {
  mark = markNow();
});

afterEach(async () => {
  const path = expect.getState().testPath ?? "";
  const found = await settledLeftovers(path);
  forgetTracked();
  if (found.length > 0) {
    throw new Error(`The test left ${found.length} behind:\n${found.map(describeLeftover).join("\n")}`);
  }
});

// What is ending just now gets some turns of the event loop, not time: a turn runs everything that
// promises alone can reach.
async function settledLeftovers(path: string): Promise<Leftover[]> {
  for (let turn = 0; turn < TURNS_TO_SETTLE && counted(path).length > 0; turn += 1) {
    await new Promise((resolve) => nextTurn(resolve));
  }
  return counted(path);
}

function counted(path: string): Leftover[] {
  if (OWNS_REAL_RESOURCES.test(path)) {
    return [];
  }
  return leftoversSince(mark).filter(({ kind }) => kind !== "actor" || !LEAVES_CHARTS_OPEN.test(path));
}

function describeLeftover({ kind, description }: Leftover): string {
  return `- ${kind}: ${description}`;
}
