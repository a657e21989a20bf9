import { tool } from "@openai/agents-core";
import { createToolSession, type SettledCall } from "toolkernel";
import { fromOpenAIAgentsTools, type OpenAIAgentsPolicies } from "toolkernel/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const FREE = { needsApproval: false } as const;

async function runOne(foreign: object, policies: OpenAIAgentsPolicies = {}): Promise<SettledCall | undefined> {
  // What `tool()` gives always has an answer to approval, which comes later; these are not about that.
  const tools = fromOpenAIAgentsTools([{ ...(foreign as { type: string; name: string }), ...FREE }], policies);
  await using session = createToolSession({ tools, host: { user: "ada" } });
  const { settled } = await session.execute([{ id: "1", name: "act", arguments: { n: 1 } }]).result;
  return settled[0];
}

const shared = { name: "act", description: "Acts.", parameters: z.object({ n: z.number() }) };

describe("tools of the OpenAI Agents SDK, imported", () => {
  it("execute gets the parsed input and the host as the run context's context", async () => {
    const seen: unknown[] = [];
    const execute = (input: unknown, runContext?: { context: unknown }) => void seen.push(input, runContext?.context);
    expect(await runOne(tool({ ...shared, execute }))).toMatchObject({ outcome: "succeeded" });
    expect(seen).toEqual([{ n: 1 }, { user: "ada" }]);
  });

  it("UNC-1: a throw that the SDK answers with its own text is a throw all the same", async () => {
    const execute = () => {
      throw new Error("socket closed");
    };
    expect(await runOne(tool({ ...shared, execute }))).toMatchObject({ outcome: "uncertain" });
    expect(await runOne(tool({ ...shared, execute, errorFunction: null }))).toMatchObject({ outcome: "uncertain" });
    const told = tool({ ...shared, execute, errorFunction: () => "No funds; nothing was paid." });
    expect(await runOne(told)).toMatchObject({ outcome: "succeeded" });
    const read = await runOne(tool({ ...shared, execute }), { act: { risk: "readOnly" } });
    expect(read).toMatchObject({ outcome: "failed" });
  });

  it("CAN-3: the tool's own time-out is the call's", async () => {
    const late = tool({ ...shared, execute: () => new Promise<string>(() => undefined), timeoutMs: 5 });
    expect(await runOne(late)).toMatchObject({ outcome: "uncertain", result: { failureCategory: "timeout" } });
  });

  it("outputs of the SDK's own kinds become parts", async () => {
    const execute = () => [
      { type: "text" as const, text: "see" },
      { type: "image" as const, image: "data:image/png;base64,aW1n" },
    ];
    expect((await runOne(tool({ ...shared, execute })))?.result.content).toEqual([
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", data: "aW1n" },
    ]);
  });
});
