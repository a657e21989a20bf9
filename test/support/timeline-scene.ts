import { readRecording } from "toolkernel/inspect";
import { type RunStory, Story } from "../../src/inspect/story/run-story.ts";
import { type PlannedCall, type PlayOptions, playBatches } from "../inspect/play-batches.ts";

export const MIXED: readonly (readonly PlannedCall[])[] = [
  [
    { tool: "read", ms: 20 },
    { tool: "edit", keys: ["a"], ms: 30 },
    { tool: "edit", keys: ["a", "b"], ms: 10, ends: "fails" },
    { tool: "shell", keys: ["b"], ms: 900 },
    { tool: "read", keys: ["b"] },
    { tool: "unknown" },
  ],
  [
    { tool: "edit", keys: ["c"], ends: "loses" },
    { tool: "edit", keys: ["c"] },
  ],
];

export async function runOf(
  batches: readonly (readonly PlannedCall[])[],
  options: PlayOptions = {},
): Promise<RunStory> {
  const [run] = Story.of(readRecording(await playBatches(batches, options)).entries).runs;
  if (run === undefined) throw new Error("nothing was played");
  return run;
}
