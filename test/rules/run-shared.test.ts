import type { AgentHooks, AssistantMessage, Message, ModelRequest, SessionHooks } from "toolkernel";
import { describe, expect, it } from "vitest";
import { openAgentBench, say } from "../support/agent-bench.ts";
import { leaveRun } from "../support/left-run.ts";
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

/** A conversation of the host's own, with a part of every kind that is not flat. */
const conversation = () =>
  structuredClone<Message[]>([
    { role: "user", content: [{ type: "json", value: { wish: ["plums"] } }] },
    { role: "assistant", content: PARTS, stopReason: "toolUse", usage: USAGE },
    {
      ...{ role: "toolResult", callId: "a", toolName: "pay", callIndex: 0, content: [{ type: "json", value: [1] }] },
      ...{ details: { paid: [1] }, isError: false, outcomeUncertain: false, terminate: false },
    },
    { role: "user", content: "go on" },
  ]);

describe("the messages of a request", () => {
  it("RUN-5: cannot be written into by a provider, whoever they came from", async () => {
    const { tool } = recordingTool({ name: "pay" });
    const open: string[][] = [];
    const model = {
      generate: async ({ messages, turn }: ModelRequest) => {
        open.push(messages.flatMap((message, index) => openPlaces(message, String(index))));
        return turn === 1 ? paying() : say();
      },
    };
    const hooks: AgentHooks = { shouldStopAfterTurn: () => false };
    const bench = openAgentBench({ tools: [tool], model, hooks, limits: { exactToolRepeatAdvisoryThreshold: 1 } });
    const given = conversation();
    const following = bench.start(given);
    following.run.steer({ role: "user", content: [{ type: "text", text: "quickly" }] });
    following.run.followUp("and again");
    const { result } = await following.finish();
    expect(result.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "toolResult", "user", "assistant", "toolResult", "policy"],
      ...["user", "assistant", "user", "assistant"],
    ]);
    expect(open.flat()).toEqual([]);
    expect(given).toEqual(conversation());
    expect([Object.isFrozen(given[0]), Object.isFrozen(given[1]?.content)]).toEqual([false, false]);
  });

  it("RUN-5: are those that run was given, whatever the host does to its own objects then", async () => {
    const given = conversation();
    const bench = openAgentBench({ script: [say()] });
    const following = bench.start(given);
    Object.assign(given[3] ?? {}, { content: "stop" });
    Object.assign((given[1] as AssistantMessage).content[2] ?? {}, { arguments: "{}" });
    const { result } = await following.finish();
    expect(result.messages.slice(0, 4)).toEqual(conversation());
  });

  it("RUN-6: cannot be written into by the provider or the hooks of a process that resumes", async () => {
    const runStore = await leaveRun([{ name: "pay", arguments: { to: { name: "Ada" } }, state: "prepared" }], {
      isAgents: true,
    });
    const { tool } = recordingTool({ name: "pay" });
    const open: string[] = [];
    const hooks: AgentHooks & SessionHooks = { afterToolCall: ({ call }) => void open.push(...openPlaces(call)) };
    const generate = async ({ messages }: ModelRequest) => {
      open.push(...messages.flatMap((message) => openPlaces(message)));
      return say();
    };
    const bench = openAgentBench({ tools: [tool], model: { generate }, hooks, runStore });
    const { result } = await bench.resume("run").finish();
    expect([result.status, result.messages.length, open]).toEqual(["completed", 4, []]);
  });

  it("RUN-2: are not copied again where a hook gives the transcript back in every turn", async () => {
    const { tool } = recordingTool({ name: "pay" });
    const shown: (readonly Message[])[] = [];
    const hooks: AgentHooks = { prepareNextTurn: ({ messages }) => ({ messages: messages.slice(-4) }) };
    const model = {
      generate: async ({ messages, turn }: ModelRequest) => {
        shown.push(messages);
        return turn === 1 ? paying() : say();
      },
    };
    const { result } = await openAgentBench({ tools: [tool], model, hooks }).play(conversation());
    expect(shown.map((messages) => messages.map((message) => result.messages.indexOf(message)))).toEqual([
      [0, 1, 2, 3],
      [2, 3, 4, 5],
    ]);
  });
});
