import { type BatchResult, defineTool, type GivenCall, type SessionHooks, type ToolSession } from "toolkernel";
import { describe, expect, it } from "vitest";
import { caseTools } from "../support/case-tools.ts";
import { call, finish, outcomesOf, storyOf, testSession, textsOf, verdictsOf } from "../support/run-calls.ts";

const EDIT = '{"path":"b","oldText":"x","newText":"y"}';

/** Asks about calls of these tools, or about those of one call only. */
const askAbout = (isAsked: (name: string, callId: string) => boolean): SessionHooks => ({
  authorizeToolCall: ({ tool, call: { id } }) => (isAsked(tool.name, id) ? { ask: { about: id } } : undefined),
});

function startCase(isAsked: (name: string, callId: string) => boolean) {
  const { tools, done } = caseTools();
  return { session: testSession({ tools, hooks: askAbout(isAsked) }), done };
}

/** Answers open approvals by call id. */
async function answer(
  session: ToolSession,
  calls: readonly GivenCall[],
  asked: BatchResult,
  answers: Readonly<Record<string, true | { block: string }>>,
) {
  const approvals = Object.fromEntries(
    (asked.approvals ?? []).flatMap(({ callId, approvalId }) => {
      const given = answers[callId];
      return given === undefined ? [] : [[approvalId, given] as const];
    }),
  );
  return session.execute(calls, { turn: 1, approvals });
}

describe("approvals", () => {
  it("C19: a user's message while an approval waits denies the call before the message", async () => {
    const { session, done } = startCase((name) => name === "edit");
    const calls = [call("edit", EDIT, "e")];
    const transcript: unknown[] = [{ role: "assistant", content: calls }];
    await session.execute(calls, { turn: 1 }).result;
    const { messages } = await session.execute(calls, { turn: 1, blockOthers: true }).result;
    transcript.push(...messages, { role: "user", content: "Never mind." });
    expect(transcript).toMatchObject([
      { role: "assistant" },
      { role: "toolResult", callId: "e", isError: true, failureCategory: "authorization" },
      { role: "user" },
    ]);
    expect(done).toEqual([]);
    session.noteNewEvidence();
    expect(outcomesOf(await session.execute([call("read", '{"path":"a"}')]).result)).toEqual(["succeeded"]);
  });

  it("C22: one call of a block is denied; nothing had started before every decision was known", async () => {
    const { session, done } = startCase((_name, id) => id === "b");
    const calls = [call("edit", EDIT.replace('"b"', '"a"'), "a"), call("edit", EDIT, "b")];
    const asked = await session.execute(calls).result;
    expect([done, asked.settled]).toEqual([[], []]);
    const denied = await (await answer(session, calls, asked, { b: { block: "Leave b alone." } })).result;
    expect(verdictsOf(denied)).toEqual(["succeeded", "refused:authorization"]);
    expect(textsOf(denied)).toEqual(["ok", "Leave b alone."]);
    expect(done).toEqual(["edit a"]);
  });

  it("C25: of two that ask, the one approved runs and the one rejected is told, in source order", async () => {
    const { session, done } = startCase((name) => name === "send");
    const calls = [
      call("send", '{"to":"A","body":"1"}', "a"),
      call("send", '{"to":"B","body":"2"}', "b"),
      call("read", '{"path":"list"}', "c"),
    ];
    const asked = await session.execute(calls).result;
    const { result, events } = await finish(await answer(session, calls, asked, { a: { block: "no" }, b: true }));
    expect(result.messages.map((message) => "callId" in message && message.callId)).toEqual(["a", "b", "c"]);
    expect(outcomesOf(result)).toEqual(["refused", "succeeded", "succeeded"]);
    expect(done).toEqual(["send B", "read list"]);
    expect(storyOf(events).filter((line) => line.startsWith("toolEnded"))).toEqual([
      "toolEnded a",
      "toolEnded b",
      "toolEnded c",
    ]);
  });

  it("C25: one that asks beside one that does not: both have their result", async () => {
    const { session, done } = startCase((name) => name === "send");
    const calls = [call("send", '{"to":"A","body":"1"}', "a"), call("noargs", "{}", "b")];
    const asked = await session.execute(calls).result;
    const rejected = await (await answer(session, calls, asked, { a: { block: "no" } })).result;
    expect(outcomesOf(rejected)).toEqual(["refused", "succeeded"]);
    expect(done).toEqual(["noargs"]);
  });

  it("C27: two questions of one tool are two; answers in reverse order reach each its own call", async () => {
    const answered: unknown[] = [];
    const ask = defineTool({
      name: "ask",
      description: "Asks.",
      inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
      execute: ({ q }) => void answered.push(q),
    });
    const session = testSession({ tools: [ask], hooks: askAbout(() => true) });
    const calls = [call("ask", '{"q":"a"}', "1"), call("ask", '{"q":"b"}', "2")];
    const asked = await session.execute(calls).result;
    expect(asked.approvals?.map(({ ask: question }) => question)).toEqual([{ about: "1" }, { about: "2" }]);
    const half = await (await answer(session, calls, asked, { "2": true })).result;
    expect(half.approvals?.map(({ callId }) => callId)).toEqual(["1"]);
    const done = await (await answer(session, calls, half, { "1": { block: "no" } })).result;
    expect(outcomesOf(done)).toEqual(["refused", "succeeded"]);
    expect(answered).toEqual(["b"]);
  });

  it("C34: two answers in the same tick both count, and the batch ends once", async () => {
    const { session, done } = startCase((name) => name === "send");
    const calls = [call("send", '{"to":"A","body":"1"}', "a"), call("send", '{"to":"B","body":"2"}', "b")];
    const asked = await session.execute(calls).result;
    const [first, second] = await Promise.all([
      answer(session, calls, asked, { a: true }),
      answer(session, calls, asked, { b: true }),
    ]);
    const [one, two] = await Promise.all([first.result, second.result]);
    expect([one.approvals?.map(({ callId }) => callId), outcomesOf(one)]).toEqual([["b"], []]);
    expect(outcomesOf(two)).toEqual(["succeeded", "succeeded"]);
    expect(done).toEqual(["send A", "send B"]);
  });

  it("C34: both answers in one go end the batch at once", async () => {
    const { session, done } = startCase((name) => name === "send");
    const calls = [call("send", '{"to":"A","body":"1"}', "a"), call("send", '{"to":"B","body":"2"}', "b")];
    const asked = await session.execute(calls).result;
    expect(outcomesOf(await (await answer(session, calls, asked, { a: true, b: true })).result)).toEqual([
      "succeeded",
      "succeeded",
    ]);
    expect(done).toEqual(["send A", "send B"]);
  });
});
