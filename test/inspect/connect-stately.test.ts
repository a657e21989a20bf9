import { createInspector } from "@statelyai/inspect";
import { createToolSession, defineTool } from "toolkernel";
import { connectStately } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";

const tool = defineTool({
  name: "look",
  description: "Looks.",
  inputSchema: { type: "object" },
  risk: "readOnly",
  execute: () => 1,
});

async function play(inspect: ReturnType<typeof connectStately>): Promise<void> {
  const session = createToolSession({ tools: [tool], inspect });
  await session.execute([{ name: "look" }]).result;
  await session.close();
}

describe("connectStately", () => {
  it("shows an inspector of @statelyai/inspect every chart, its definition and its states", async () => {
    const told: { readonly type: string; readonly name?: string; readonly value?: unknown; readonly chart?: string }[] =
      [];
    const inspector = createInspector({
      send: (event) => {
        if (event.type === "@xstate.actor") {
          told.push({ type: event.type, name: event.name, chart: JSON.parse(event.definition ?? "{}").id });
        }
        if (event.type === "@xstate.snapshot") {
          told.push({ type: event.type, value: (event.snapshot as { readonly value?: unknown }).value });
        }
      },
    });
    await play(connectStately(inspector));
    await expect.poll(() => told.filter(({ value }) => value === "settled").length).toBe(2);
    const actors = told.filter(({ type }) => type === "@xstate.actor");
    expect(actors.map(({ name, chart }) => [name, chart])).toEqual([
      ["batch:1", "batch"],
      ["call:1:0", "toolCall"],
      ["epoch:1:0", "epoch"],
    ]);
    expect(told.map(({ value }) => value)).toContain("running");
  });

  it("takes a function in place of an observer, and an observer that listens to nothing", async () => {
    const types = new Set<string>();
    await play(connectStately({ inspect: ({ type }: { readonly type: string }) => types.add(type) }));
    expect(types).toContain("@xstate.snapshot");
    await play(connectStately({ inspect: {} }));
  });
});
