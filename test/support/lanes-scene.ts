import { createLanes, joinLanes, type LaneEntry, type Lanes } from "../../src/plan/lanes.ts";

export interface Named extends LaneEntry {
  readonly name: string;
}

export const entry = (name: string, conflictKeys: readonly string[], isWrite = true): Named => ({
  name,
  conflictKeys,
  isWrite,
  hasLeft: false,
  heldUntilMs: undefined,
});

/** Lanes with these entries, joined in order. */
export function lanesOf(...entries: readonly Named[]): Lanes<Named> {
  const lanes = createLanes<Named>();
  for (const one of entries) joinLanes(lanes, one);
  return lanes;
}
