import { defineTool, memoryRunStore, type ToolSession } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, testSession } from "../support/run-calls.ts";

/** A turn, and what its one call writes. */
type Story = readonly (readonly [turn: number, text: string])[];

function openStory() {
  const runStore = memoryRunStore();
  const written: string[] = [];
  const write = defineTool({
    name: "write",
    description: "Writes.",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    execute: ({ text }: { readonly text?: string }) => {
      written.push(text ?? "");
      return text ?? "";
    },
  });
  return { written, open: () => testSession({ tools: [write], runStore, runId: "run" }) };
}

async function tell(session: ToolSession, story: Story): Promise<string[]> {
  const results: string[] = [];
  for (const [turn, text] of story) {
    const given = [call("write", JSON.stringify({ text }), `c-${text}`)];
    const { settled } = await session.execute(given, { turn }).result;
    results.push(JSON.stringify(settled[0]?.result.content));
  }
  return results;
}

const STORIES: readonly (readonly [string, Story])[] = [
  [
    "turn after turn",
    [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ],
  ],
  [
    "with turns left out",
    [
      [1, "a"],
      [3, "b"],
      [5, "c"],
    ],
  ],
  [
    "with a turn that comes late",
    [
      [1, "a"],
      [3, "b"],
      [2, "c"],
    ],
  ],
  [
    "with two responses for its first turn",
    [
      [1, "a"],
      [1, "b"],
    ],
  ],
  [
    "with another response for a turn that is long over",
    [
      [1, "a"],
      [2, "b"],
      [1, "c"],
    ],
  ],
];

describe("a session's story that is told again", () => {
  it.each(STORIES)("RUN-6: %s, gives the same results and calls nobody, in its own session", async (_how, story) => {
    const { written, open } = openStory();
    const session = open();
    const first = await tell(session, story);
    expect(await tell(session, story)).toEqual(first);
    expect(written.length).toBe(story.length);
    await session.close();
  });

  it.each(STORIES)("RUN-6: %s, gives the same results and calls nobody, in another session", async (_how, story) => {
    const { written, open } = openStory();
    const one = open();
    const first = await tell(one, story);
    await one.close();
    const other = open();
    expect(await tell(other, story)).toEqual(first);
    expect(written.length).toBe(story.length);
    await other.close();
  });
});
