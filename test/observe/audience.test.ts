import { type Audience, audienceFilter, KernelError, type KernelEventKind, type Message } from "toolkernel";
import { describe, expect, it } from "vitest";
import { audienceOf } from "../../src/observe/audience.ts";
import { FULL_FIELDS, KINDS } from "./sample-events.ts";

const PUBLIC = ["runStarted", "runResumed", "turnStarted", "modelRequestStarted", "turnEnded", "runEnded"];
const OWNER = ["messageStarted", "messageQueued", "approvalRequested"];

function expectedAudience(kind: KernelEventKind): Audience {
  if (PUBLIC.includes(kind)) return "public";
  return OWNER.includes(kind) ? "owner" : "internal";
}

describe("OBS-2: the audience of an event", () => {
  it.each(KINDS)("of kind %s follows the stock policy, and is internal wherever tools are concerned", (kind) => {
    expect(audienceOf(kind, FULL_FIELDS[kind])).toBe(expectedAudience(kind));
  });

  it.each([
    [{ type: "text", text: "hello" }, "owner"],
    [{ type: "reasoning", text: "hm" }, "owner"],
    [{ type: "toolCall", id: "a", argumentsText: "{" }, "internal"],
  ] as const)("of a streamed piece %o is %s", (delta, audience) => {
    expect(audienceOf("messageUpdated", { delta })).toBe(audience);
  });

  it("of a streamed piece that is none is internal", () => {
    expect(audienceOf("messageUpdated", { delta: undefined as never })).toBe("internal");
  });

  const text = { type: "text", text: "I look." } as const;
  it.each<readonly [string, Message, Audience]>([
    ["a user's", { role: "user", content: "hello" }, "owner"],
    ["a response's without calls", { role: "assistant", content: [text], stopReason: "stop" }, "owner"],
    [
      "a response's with calls, its text included",
      {
        role: "assistant",
        content: [text, { type: "toolCall", id: "a", name: "read", arguments: "{}" }],
        stopReason: "toolUse",
      },
      "internal",
    ],
    [
      "a result's",
      {
        role: "toolResult",
        callId: "a",
        toolName: "read",
        callIndex: 0,
        content: [],
        isError: false,
        outcomeUncertain: false,
        terminate: false,
      },
      "internal",
    ],
    [
      "the kernel's word to the model",
      { role: "policy", policy: "agent_policy", content: "again?", audience: "internal" },
      "internal",
    ],
  ])("of %s message", (_whose, message, audience) => {
    expect(audienceOf("messageEnded", { message })).toBe(audience);
  });
});

describe("OBS-2: audienceFilter", () => {
  it.each([
    ["internal", ["internal", "owner", "public"]],
    ["owner", ["owner", "public"]],
    ["public", ["public"]],
  ] as const)("lets %s viewers see %o", (viewer, seen) => {
    const events = (["internal", "owner", "public"] as const).map((audience) => ({ audience }));
    expect(events.filter(audienceFilter(viewer)).map(({ audience }) => audience)).toEqual(seen);
  });

  it.each(["owner", "public"] as const)("hides an event without a known audience from %s viewers", (viewer) => {
    expect([{}, { audience: "everybody" }].map((event) => audienceFilter(viewer)(event as never))).toEqual([
      false,
      false,
    ]);
  });

  it("refuses a viewer that there is not, rather than show everything", () => {
    expect(() => audienceFilter("admin" as never)).toThrow(KernelError);
    expect(() => audienceFilter("__proto__" as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "viewer" }),
    );
  });
});
