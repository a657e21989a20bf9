/** The small batches that are explored to the last state, and the larger ones that are drawn by chance. */

import type { SeededRandom } from "./random.ts";
import type { CallKind, Scope } from "./scheduler-state.ts";

const MODES = ["sequential", "safeParallel", "parallel"] as const;
const CAPS = [1, 2, 3];

/** The kinds of calls that every batch of a few is made of. */
export const KINDS: readonly CallKind[] = [
  kind("read", []),
  kind("write k", ["k"]),
  kind("write j", ["j"]),
  kind("write", []),
  kind("write k and j", ["k", "j"]),
];

/** The same and more: reads that have a key, and tools that are marked. */
export const MORE_KINDS: readonly CallKind[] = [
  ...KINDS,
  { name: "read k", isWrite: false, conflictKeys: ["k"] },
  { name: "write k (parallel)", isWrite: true, conflictKeys: ["k"], executionMode: "parallel" },
  { name: "read (sequential)", isWrite: false, conflictKeys: [], executionMode: "sequential" },
];

/** Every scope of batches of these sizes, one after another, in every mode and under every cap. */
export function scopesOf(kinds: readonly CallKind[], sizes: readonly number[]): Scope[] {
  const batches = sizes.reduce<readonly (readonly (readonly CallKind[])[])[]>(
    (before, size) => before.flatMap((given) => batchesOf(kinds, size).map((batch) => [...given, batch])),
    [[]],
  );
  return batches.flatMap((given) => MODES.flatMap((mode) => CAPS.map((cap) => ({ batches: given, mode, cap }))));
}

/**
 * One of every set of scopes that differ in nothing that can matter: in a mode that makes the same calls
 * overlap, in a cap that is never reached, in the names of keys.
 */
export function withoutTwins(scopes: readonly Scope[]): Scope[] {
  const seen = new Set<string>();
  return scopes.filter((scope) => {
    const twins = twinKeys(scope);
    const isNew = twins.every((key) => !seen.has(key));
    for (const key of twins) seen.add(key);
    return isNew;
  });
}

/** A scope of up to three batches of up to ten calls. */
export function drawScope(random: SeededRandom): Scope {
  const batches = Array.from({ length: 1 + random.below(3) }, () =>
    Array.from({ length: 2 + random.below(9) }, () => drawKind(random)),
  );
  const mode = random.pick(["sequential", "safeParallel", "parallel", "parallel"] as const);
  return { batches, mode, cap: 1 + random.below(5) };
}

function kind(name: string, conflictKeys: readonly string[]): CallKind {
  return { name, isWrite: name.startsWith("write"), conflictKeys };
}

function batchesOf(kinds: readonly CallKind[], size: number): (readonly CallKind[])[] {
  if (size === 0) return [[]];
  return batchesOf(kinds, size - 1).flatMap((rest) => kinds.map((added) => [...rest, added]));
}

/** What can matter of a scope, for both ways of naming the keys. */
function twinKeys({ batches, mode, cap }: Scope): string[] {
  const overlaps = batches.map((kinds) => kinds.map((given) => mayOverlap(given, mode)));
  const largest = Math.max(...overlaps.map(longestStretch));
  const rename = new Map([
    ["k", "j"],
    ["j", "k"],
  ]);
  const facts = [overlaps, Math.min(cap, largest), batches.map((kinds) => kinds.map(({ isWrite }) => isWrite))];
  const keys = batches.map((kinds) => kinds.map(({ conflictKeys }) => [...conflictKeys].sort()));
  const renamed = keys.map((each) => each.map((names) => names.map((name) => rename.get(name) ?? name).sort()));
  return [JSON.stringify([facts, keys]), JSON.stringify([facts, renamed])];
}

function longestStretch(overlaps: readonly boolean[]): number {
  let longest = 1;
  let stretch = 0;
  for (const mayOverlapNow of overlaps) {
    stretch = mayOverlapNow ? stretch + 1 : 0;
    longest = Math.max(longest, stretch);
  }
  return longest;
}

function mayOverlap({ isWrite, executionMode }: CallKind, mode: Scope["mode"]): boolean {
  if (mode === "sequential" || executionMode === "sequential") return false;
  return mode === "parallel" || executionMode === "parallel" || !isWrite;
}

function drawKind(random: SeededRandom): CallKind {
  const isWrite = random.percent(60);
  const conflictKeys = ["k", "j", "i"].filter(() => random.percent(35));
  const mark = random.below(10);
  const executionMode = mark === 0 ? "sequential" : mark < 4 ? "parallel" : undefined;
  const name = `${isWrite ? "write" : "read"} ${conflictKeys.join("+")}${executionMode === undefined ? "" : ` (${executionMode})`}`;
  return { name, isWrite, conflictKeys, ...(executionMode !== undefined && { executionMode }) };
}
