import { type AnyTool, type JsonObject, type SessionHooks, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, outcomesOf, play, recordingTool, testSession, verdictsOf } from "../support/run-calls.ts";

type Open = Record<string, unknown> & { list: number[]; inner: Record<string, unknown> };

const DRAFT = '{"list":[1],"inner":{"x":1}}';

const PREPARED = { list: [1], inner: { x: 1 } };

/** Tries to change arguments in every way, and says what each attempt came to. */
function attack(given: unknown): string[] {
  const open = given as Open;
  const attempts: (() => unknown)[] = [
    () => {
      open.added = 1;
    },
    () => {
      open.list = [];
    },
    () => {
      open.inner.x = 2;
    },
    () => open.list.push(2),
    () => {
      delete open.inner.x;
    },
    () => Object.defineProperty(open, "list", { value: 0 }),
    () => Object.setPrototypeOf(open.inner, { polluted: true }),
  ];
  return attempts.map((attempt) => {
    try {
      attempt();
      return "succeeded";
    } catch (error) {
      return error instanceof TypeError ? "TypeError" : "another error";
    }
  });
}

describe("prepared arguments", () => {
  it("PREP-3: are one object for the last validate, the keys, the authorizer, the person, the executor and the rest", async () => {
    const seen: Record<string, unknown> = {};
    const see = (who: string) => (given: unknown) => {
      seen[who] = given;
      return undefined;
    };
    const { tool } = recordingTool({ name: "t", validate: see("validate"), conflictKey: see("conflictKey") });
    const executing = { ...tool, execute: (given: unknown) => void see("execute")(given) };
    const hooks: SessionHooks = {
      authorizeToolCall: ({ arguments: given }) => {
        see("authorize")(given);
        return { ask: {} };
      },
      afterToolCall: ({ arguments: given }) => see("afterToolCall")(given),
    };
    const session = testSession({ tools: [executing], hooks });
    const asked = await session.execute([call("t", DRAFT)]).result;
    const [approval] = asked.approvals ?? [];
    see("approval")(approval?.arguments);
    await session.execute([call("t", DRAFT)], { turn: 1, approvals: { [String(approval?.approvalId)]: true } }).result;
    expect(Object.keys(seen).sort()).toEqual([
      ...["afterToolCall", "approval", "authorize", "conflictKey", "execute", "validate"],
    ]);
    expect(seen.execute).toEqual(PREPARED);
    expect(new Set(Object.values(seen)).size).toBe(1);
  });

  const parties: [
    string,
    (attacked: (given: unknown) => undefined) => { tool?: Partial<AnyTool>; hooks?: SessionHooks },
  ][] = [
    ["validate", (attacked) => ({ tool: { validate: attacked } })],
    ["conflictKey", (attacked) => ({ tool: { conflictKey: attacked } })],
    ["policy", (attacked) => ({ hooks: { rewriteToolCall: (input) => attacked(input.arguments) } })],
    ["authorization", (attacked) => ({ hooks: { authorizeToolCall: (input) => attacked(input.arguments) } })],
    ["afterToolCall", (attacked) => ({ hooks: { afterToolCall: (input) => attacked(input.arguments) } })],
  ];

  it.each(parties)("PREP-3: cannot be changed by %s; nobody else sees an attempt", async (_who, arm) => {
    const attempts: string[][] = [];
    const { tool, hooks = {} } = arm((given) => void attempts.push(attack(given)));
    const { tool: armed, runs } = recordingTool(tool);
    const { result } = await play({ tools: [armed], hooks }, [call("read", DRAFT)]);
    expect(attempts).toEqual([Array(7).fill("TypeError")]);
    expect(outcomesOf(result)).toEqual(["succeeded"]);
    expect(runs).toEqual([PREPARED]);
  });

  it("PREP-3: cannot be changed by the executor or by recover", async () => {
    const attempts: string[][] = [];
    const after: unknown[] = [];
    const { tool } = recordingTool({ name: "write", risk: "nonIdempotentWrite" });
    const armed = {
      ...tool,
      execute: (given: JsonObject) => {
        attempts.push(attack(given));
        throw new Error("lost");
      },
      recover: (given: JsonObject) => {
        attempts.push(attack(given));
        return toolResult({ value: "it happened" });
      },
    };
    await play({ tools: [armed], hooks: { afterToolCall: (input) => void after.push(input.arguments) } }, [
      call("write", DRAFT),
    ]);
    expect(attempts).toEqual([Array(7).fill("TypeError"), Array(7).fill("TypeError")]);
    expect(after).toEqual([PREPARED]);
  });

  it("PREP-3: a party that lets the TypeError go refuses its call, and changes nothing", async () => {
    const { tool, runs } = recordingTool();
    const hooks: SessionHooks = {
      authorizeToolCall: ({ arguments: given, callIndex }) => {
        if (callIndex === 0) (given as Record<string, unknown>).path = "evil";
        return undefined;
      },
    };
    const { result } = await play({ tools: [tool], hooks }, [
      call("read", '{"path":"a"}', "a"),
      call("read", '{"path":"b"}', "b"),
    ]);
    expect(verdictsOf(result)).toEqual(["refused:authorization", "succeeded"]);
    expect(runs).toEqual([{ path: "b" }]);
  });

  it("PREP-3: are a copy of what policy wrote, taken when it answered", async () => {
    const written = { list: [1], inner: { x: 1 } };
    const { tool, runs } = recordingTool();
    const hooks: SessionHooks = {
      rewriteToolCall: () => ({ arguments: written }),
      authorizeToolCall: () => void written.list.push(2),
    };
    await play({ tools: [tool], hooks }, [call("read")]);
    expect(runs).toEqual([PREPARED]);
    expect([written, Object.isFrozen(written)]).toEqual([{ list: [1, 2], inner: { x: 1 } }, false]);
  });

  it("PREP-3: are a copy of an object that the host handed over, which stays the host's", async () => {
    const draft = { list: [1], inner: { x: 1 } };
    const { tool, runs } = recordingTool();
    const hooks: SessionHooks = { authorizeToolCall: () => void draft.list.push(2) };
    await play({ tools: [tool], hooks }, [call("read", draft)]);
    expect(runs).toEqual([PREPARED]);
    expect([Object.isFrozen(draft), Object.isFrozen(draft.inner)]).toEqual([false, false]);
  });

  it("PREP-3: are those that execute was given, whatever becomes of the host's objects until the call has its turn", async () => {
    const { tool, runs } = recordingTool();
    const draft = { cents: 1 };
    const providerData = { signature: "s1" };
    const session = testSession({ tools: [tool] });
    const before = session.execute([call("read", "{}", "first")]);
    const batch = session.execute([{ ...call("read", draft, "queued"), providerData }]);
    Object.assign(draft, { cents: 1_000_000, to: {} });
    providerData.signature = "s2";
    await before.result;
    const { messages, settled } = await batch.result;
    expect(runs).toEqual([{}, { cents: 1 }]);
    expect(settled[0]?.call.arguments).toEqual({ cents: 1 });
    expect(messages).toMatchObject([{ callId: "queued", providerData: { signature: "s1" } }]);
  });

  it("PREP-3: a draft that cannot be copied costs its own call alone", async () => {
    const { tool, runs } = recordingTool();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const { result } = await play({ tools: [tool] }, [call("read", proxy as JsonObject, "bad"), call("read")]);
    expect(outcomesOf(result)).toEqual(["refused", "succeeded"]);
    expect(runs).toEqual([{}]);
  });

  it("PREP-3: the draft that hooks are shown cannot be written into, however deep", async () => {
    const { tool, runs } = recordingTool();
    const attempts: string[][] = [];
    const hooks: SessionHooks = {
      rewriteToolCall: ({ call: shown }) => void attempts.push(attack(shown.arguments)),
      authorizeToolCall: ({ call: shown }) => void attempts.push(attack(shown.providerData)),
    };
    const providerData = { list: [1], inner: { x: 1 } };
    const given = { ...call("read", { list: [1], inner: { x: 1 } }), providerData };
    const { result } = await play({ tools: [tool], hooks }, [given]);
    expect(attempts).toEqual([Array(7).fill("TypeError"), Array(7).fill("TypeError")]);
    expect([runs, result.settled[0]?.call.arguments]).toEqual([[PREPARED], PREPARED]);
    expect([Object.isFrozen(given.arguments), Object.isFrozen(providerData.inner)]).toEqual([false, false]);
  });

  it("PREP-3: the draft that hooks are shown cannot be turned into another call", async () => {
    const { tool } = recordingTool();
    const other = recordingTool({ name: "other" });
    const attempts: string[] = [];
    const hooks: SessionHooks = {
      rewriteToolCall: ({ call: draft }) => {
        for (const field of ["id", "name", "arguments"]) {
          try {
            Object.assign(draft, { [field]: "other" });
            attempts.push(field);
          } catch (error) {
            attempts.push((error as Error).name);
          }
        }
        return undefined;
      },
    };
    const { result } = await play({ tools: [tool, other.tool], hooks }, [call("read")]);
    expect(attempts).toEqual(["TypeError", "TypeError", "TypeError"]);
    expect(result.messages).toMatchObject([{ callId: "read", toolName: "read" }]);
    expect(other.runs).toEqual([]);
  });

  it.each<[string, (draft: Open) => unknown]>([
    ["the draft it was given", (draft) => draft],
    ["an object of its own", () => ({ list: [1], inner: { x: 1 } })],
  ])("PREP-3: are a copy of %s where prepareArguments answers it and keeps it", async (_what, answer) => {
    const kept: Open[] = [];
    const prepareArguments = (draft: unknown) => {
      const answered = answer(draft as Open) as Open;
      kept.push(answered);
      return answered as JsonObject;
    };
    const { tool, runs } = recordingTool({ prepareArguments });
    const hooks: SessionHooks = { authorizeToolCall: () => void kept[0]?.list.push(2) };
    await play({ tools: [tool], hooks }, [call("read", DRAFT)]);
    expect(kept[0]?.list).toEqual([1, 2]);
    expect(runs).toEqual([PREPARED]);
  });

  it("PREP-3: hold data only: a getter that prepareArguments plants is read once", async () => {
    let reads = 0;
    const prepareArguments = (draft: unknown) =>
      Object.defineProperty(draft as JsonObject, "path", {
        enumerable: true,
        get: () => {
          reads += 1;
          return reads === 1 ? "safe" : "evil";
        },
      });
    const { tool, runs } = recordingTool({ prepareArguments });
    const paths: unknown[] = [];
    const hooks: SessionHooks = { authorizeToolCall: ({ arguments: given }) => void paths.push(given.path) };
    await play({ tools: [tool], hooks }, [call("read")]);
    expect([paths, runs, reads]).toEqual([["safe"], [{ path: "safe" }], 1]);
  });
});
