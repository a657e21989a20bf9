import type { AgentHooks, AssistantMessage, Message, ModelRequest, SessionHooks } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openAgentBench, say } from "../support/agent-bench.ts";
import { recordingTool } from "../support/run-calls.ts";

type Open = Record<string, Record<string, unknown>[]>;

/** What a write into something shared comes to. */
function attempt(write: () => void): string {
  try {
    write();
    return "written";
  } catch (error) {
    return (error as Error).name;
  }
}

/** Everything of a value that can still be changed, by its place. */
function openPlaces(value: unknown, place = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Object.isFrozen(value) ? [] : [place];
  return [...own, ...Object.entries(value).flatMap(([name, part]) => openPlaces(part, `${place}/${name}`))];
}

const PARTS = [
  { type: "text", text: "I will pay." },
  { type: "reasoning", text: "hm", providerData: { signature: { of: "hm" } } },
  { type: "toolCall", id: "a", name: "pay", arguments: { cents: 1, to: { name: "Ada" } }, providerData: { at: [1] } },
] as const;

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A response of its own for every run, so that a write into it would show. */
const paying = () => structuredClone({ content: PARTS, stopReason: "toolUse" as const, usage: USAGE });

describe("a model's response", () => {
  it("RUN-5: cannot be rewritten in the transcript by an authorizer", async () => {
    const { tool, runs } = recordingTool({ name: "pay" });
    const attempts: string[] = [];
    const hooks: SessionHooks = {
      authorizeToolCall: ({ call }) => {
        const open = call.arguments as unknown as { cents: number; to: { name: string } };
        attempts.push(attempt(() => Object.assign(open, { cents: 77 })));
        attempts.push(attempt(() => Object.assign(open.to, { name: "Eve" })));
        attempts.push(attempt(() => Object.assign((call.providerData as unknown as Open).at ?? [], [2])));
        return true;
      },
    };
    const played = await openAgentBench({ tools: [tool], script: [paying(), say()], hooks }).play();
    expect(attempts).toEqual(["TypeError", "TypeError", "TypeError"]);
    expect(runs).toEqual([{ cents: 1, to: { name: "Ada" } }]);
    expect(played.result.messages[1]).toMatchObject({ content: PARTS });
  });

  it("RUN-5: is a copy of what the provider answered, which stays the provider's", async () => {
    const { tool } = recordingTool({ name: "pay" });
    const answer = paying();
    const model = {
      generate: async ({ turn }: ModelRequest) => {
        if (turn === 1) return answer;
        Object.assign((answer.content as unknown as Open[])[2] ?? {}, { arguments: { cents: 77 } });
        Object.assign(answer.usage, { totalTokens: 0 });
        return say();
      },
    };
    const { result } = await openAgentBench({ tools: [tool], model }).play();
    expect(result.messages[1]).toEqual({ role: "assistant", content: PARTS, stopReason: "toolUse", usage: USAGE });
    expect(openPlaces(result.messages[1])).toEqual([]);
  });
});
