import { createToolSession, KernelError, type Message, type ModelResponse } from "toolkernel";
import { toGeminiContents } from "toolkernel/gemini";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, openAgentBench, say } from "../support/agent-bench.ts";
import { call, recordingTool } from "../support/run-calls.ts";

const LONE = "ok \ud83d";
const MENDED = "ok \ufffd";

/** Places of texts and names that no provider takes. */
function illFormed(value: unknown, place = ""): string[] {
  if (typeof value === "string") return value.isWellFormed() ? [] : [place];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.isWellFormed() ? [] : [`${place} name`]),
    ...illFormed(inner, `${place}/${name}`),
  ]);
}

describe("C72: what a model is shown is well-formed Unicode", () => {
  const opaque = { signature: LONE };
  const earlier: readonly Message[] = [
    { role: "user", content: [{ type: "text", text: LONE }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: LONE, providerData: opaque },
        { type: "toolCall", id: LONE, name: LONE, arguments: { [LONE]: [LONE] } },
      ],
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      callId: LONE,
      toolName: LONE,
      callIndex: 0,
      content: [{ type: "json", value: { [LONE]: LONE } }],
      isError: false,
      outcomeUncertain: false,
      terminate: false,
    },
    { role: "policy", policy: "agent_policy", content: LONE, audience: "internal" },
    { role: "user", content: LONE },
  ];

  it("RUN-5: of what a host hands over, with ids that still belong together; opaque data stays as it is", async () => {
    const bench = openAgentBench({ script: [say()], systemPrompt: LONE });
    const played = await bench.play(earlier);
    expect(endOf(played)).toBe("completed by noCalls");
    const { messages, systemPrompt } = bench.requests[0] ?? {};
    expect([systemPrompt, illFormed(messages)]).toEqual([MENDED, ["/1/content/0/providerData/signature"]]);
    expect(messages?.[1]).toMatchObject({ content: [{ providerData: opaque }, { id: MENDED }] });
    expect(messages?.[2]).toMatchObject({ callId: MENDED, toolName: MENDED });
  });

  it("RUN-5: of what was said to a run, and what the hook for the next turn gives", async () => {
    const bench = openAgentBench({
      script: [ask("read"), say(), say()],
      hooks: {
        prepareNextTurn: ({ turn, messages }) => (turn === 3 ? { messages: [...messages, ...earlier] } : undefined),
      },
    });
    const followed = bench.start(LONE);
    followed.run.steer(LONE);
    followed.run.followUp({ role: "user", content: LONE });
    await followed.finish();
    expect(bench.requests.map(({ messages }) => illFormed(messages))).toEqual([
      [],
      [],
      [expect.stringMatching(/providerData\/signature$/)],
    ]);
  });

  it("PREP-1, RUN-5: of a model's own answer, while its calls run as it wrote them", async () => {
    const { tool, runs } = recordingTool();
    const answer: ModelResponse = ask(
      { type: "text", text: LONE },
      callPart("read", "a\ud800", { n: LONE }),
      callPart("read", "a\ud801", JSON.stringify({ n: 1 })),
      callPart(LONE, "b", `{"n":"${LONE}"}`),
    );
    const bench = openAgentBench({ tools: [tool], script: [answer, say()] });
    const { result } = await bench.play();
    expect(illFormed(result.messages)).toEqual([]);
    expect(runs).toEqual([{ n: LONE }, { n: 1 }]);
    const ids = result.messages.flatMap((message) => (message.role === "toolResult" ? [message.callId] : []));
    expect(ids).toEqual(["a\ufffd", "call_1_1", "b"]);
    expect(result.messages[1]).toMatchObject({
      content: [{ text: MENDED }, { id: ids[0] }, { id: ids[1] }, { id: ids[2], name: MENDED }],
    });
  });

  it("PREP-9: of a session's results all but the ids, which are the host's", async () => {
    const session = createToolSession({ tools: [] });
    const { messages } = await session.execute([call(LONE, {}, "a\ud800"), call(LONE, {}, "b")]).result;
    expect(illFormed(messages)).toEqual(["/0/callId"]);
    expect(illFormed(toGeminiContents({ messages: messages.slice(1) }))).toEqual([]);
    await session.close();
  });
});

describe("RUN-5: nothing of a transcript is empty", () => {
  const user = (content: unknown): Message => ({ role: "user", content }) as Message;

  it.each<readonly [string, string | readonly Message[]]>([
    ["text", ""],
    ["message", [user("")]],
    ["list of parts", [user("go"), user([])]],
    ["text part", [user([{ type: "text", text: "" }])]],
  ])("no prompt is an empty %s", async (_what, input) => {
    const played = await openAgentBench({ script: [say()] }).play(input);
    expect(played.result).toMatchObject({ status: "kernelError", error: { code: "INVALID_OPTIONS" } });
    expect(played.result.error?.message).toContain("must not be empty");
  });

  it("nothing that is said to a run is empty", async () => {
    const bench = openAgentBench({ script: [say()] });
    const followed = bench.start();
    for (const message of ["", user("") as never, user([]) as never]) {
      expect(() => followed.run.steer(message)).toThrow(KernelError);
      expect(() => followed.run.followUp(message)).toThrow("must not be empty");
    }
    expect(endOf(await followed.finish())).toBe("completed by noCalls");
    const { error } = await bench.resume("x", { message: "" }).run.result;
    expect(error?.message).toContain("must not be empty");
  });

  it("an empty text of a model is left out, and a message of nothing else", async () => {
    const empty = { type: "text", text: "" } as const;
    const script = [ask(empty, callPart("read", "a")), { content: [empty], stopReason: "stop" } as const];
    const { result } = await openAgentBench({ script }).play();
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    expect(result.messages[1]).toMatchObject({ content: [{ type: "toolCall" }] });
    expect(result.status).toBe("completed");
  });
});
