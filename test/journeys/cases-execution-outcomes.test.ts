import { type AnyTool, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { call, eventsOf, outcomesOf, textOf, textsOf, verdictsOf } from "../support/run-calls.ts";
import { openWorld, playIn } from "../support/timed-world.ts";

const edit = (path: string, id = path) => call("edit", { path, oldText: "x", newText: "y" }, id);
const send = (body: string, id = body) => call("send", { to: "a", body }, id);
const trap = (): never => {
  throw new Error("trap");
};
/** Spelt apart, since a literal of that name is taken for a slip. */
const THEN = "then";

describe("failures that are certain, and outcomes that are lost", () => {
  it("C30: an error that a tool returns is settled: failed, blocking nobody", async () => {
    const { world, bench } = openWorld();
    world.files.set("there", "x");
    const running = await playIn(bench, [edit("nope"), edit("there"), send("done")]);
    expect(verdictsOf(await running.result)).toEqual(["failed:unspecified", "succeeded", "succeeded"]);
    expect([world.files.get("there"), world.outbox]).toEqual(["y", ["a: done"]]);
  });

  it("C30: refusals before dispatch are no uncertainty either", async () => {
    const { bench } = openWorld({
      hooks: { authorizeToolCall: ({ call: { id } }) => (id === "denied" ? { block: "not today" } : undefined) },
    });
    const running = await playIn(bench, [
      call("send", { to: 1 }, "bad"),
      send("no", "denied"),
      call("nope"),
      send("yes"),
    ]);
    expect(verdictsOf(await running.result)).toEqual([
      "refused:invalidArguments",
      "refused:authorization",
      "refused:invalidArguments",
      "succeeded",
    ]);
  });

  it("C30: what is uncertain is so for its batch, or until the host says what it knows", async () => {
    const lost: Partial<AnyTool> = { execute: async () => Promise.reject(new Error("connection lost")) };
    const { bench } = openWorld({ overrides: { send: lost }, uncertainWriteScope: "run" });
    const first = await playIn(bench, [edit("f", "other"), send("1"), edit("f"), edit("g"), send("2")]);
    expect(outcomesOf(await first.result)).toEqual(["failed", "uncertain", "blocked", "blocked", "blocked"]);
    expect(outcomesOf(await (await playIn(bench, [edit("f")])).result)).toEqual(["failed"]);
    await bench.session.resolveUncertain("1", { status: "failed", details: { seen: "not in the outbox" } });
    await expect(bench.session.resolveUncertain("1", { status: "failed" })).rejects.toMatchObject({
      code: "OPERATION_UNKNOWN",
    });
  });

  it("C31: a time-out of a write that did happen: uncertain, no invitation to repeat it, later writes blocked", async () => {
    const { world, bench } = openWorld({
      overrides: {
        send: {
          timeoutMs: 3_000,
          execute: async ({ body }: { readonly body: string }) => {
            await world.wait(5);
            world.outbox.push(body);
            await world.wait(15_995);
            return { sent: true };
          },
        } as never,
      },
    });
    const running = await bench.start([send("hello"), send("again"), edit("f"), call("read", { path: "f" })]);
    await bench.advance(4_000);
    const result = await running.result;
    expect(verdictsOf(result)).toEqual(["uncertain:timeout", "blocked:conflict", "blocked:conflict", "succeeded"]);
    const told = textsOf(result).slice(0, 3).join("\n");
    expect(told).toContain("do not repeat the call");
    expect(told).not.toMatch(/try again|retry|rerun|run it again/i);
    // What it answers late is told as what it is, and makes no second result.
    const later = await bench.start([call("slow", { ms: 12_000 }, "later")]);
    await bench.advance(12_000);
    await later.result;
    expect(
      eventsOf(later.events, "toolLateSettled").map(({ callId, turn, returned }) => [callId, turn, returned]),
    ).toEqual([["hello", 1, true]]);
    expect([verdictsOf(result)[0], world.outbox]).toEqual(["uncertain:timeout", ["hello"]]);
  });
});

describe("results that no provider or recorder could take", () => {
  const LONE = "ok \ud83d";

  it.each<[string, unknown]>([
    ["a text", LONE],
    ["a value and a key of JSON", { [LONE]: [LONE, { deep: LONE }] }],
    ["declared text", toolResult({ content: LONE })],
    [
      "declared parts",
      toolResult({
        content: [
          { type: "text", text: LONE },
          { type: "json", value: { a: LONE } },
        ],
      }),
    ],
    ["declared media", toolResult({ content: [{ type: "file", mediaType: LONE, data: LONE, name: LONE }] })],
    ["a declared resource", toolResult({ content: [{ type: "resource", uri: LONE, mediaType: LONE, text: LONE }] })],
    ["text in the shape of MCP", { content: [{ type: "text", text: LONE }] }],
    ["an error", toolResult({ content: LONE, isError: true })],
  ])("C72: a lone surrogate in %s is replaced in all that a model sees", async (_what, value) => {
    const { bench } = openWorld({ overrides: { read: { execute: () => value } } });
    const running = await playIn(bench, [call("read", { path: LONE })]);
    const { messages } = await running.result;
    const shown = JSON.stringify(messages.map((message) => message.content));
    expect(shown).not.toMatch(/\\ud83d/i);
    expect(shown).toContain("ok \ufffd");
  });

  it("C72: nor is one left by cutting a character in half, or by what was thrown", async () => {
    const long = `${"x".repeat(9_999)}\u{1f600}`;
    const { bench } = openWorld({
      overrides: {
        read: { execute: () => Promise.reject(new Error(long)) },
        send: { execute: () => Promise.reject(LONE) },
      },
    });
    const running = await playIn(bench, [call("read", { path: "a" }), send("b")]);
    const result = await running.result;
    expect(textsOf(result).map((text) => text.isWellFormed())).toEqual([true, true]);
    expect(textsOf(result).map((text) => text.slice(-7).includes("\ufffd") || text.startsWith("ok \ufffd"))).toEqual([
      true,
      true,
    ]);
  });

  it("C72: what is well-formed is not touched", async () => {
    const value = { smile: "\u{1f600}", quoted: '"\\ud83d"', text: "\\ud83d" };
    const { bench } = openWorld({ overrides: { read: { execute: () => value } } });
    const running = await playIn(bench, [call("read", { path: "a" })]);
    expect((await running.result).messages[0]?.content).toEqual([{ type: "json", value }]);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each<[string, () => unknown, string]>([
    ["an object with a cycle", () => cycle, "completed; do not repeat"],
    ["a BigInt in it", () => ({ n: 1n }), "completed; do not repeat"],
    ["undefined", () => undefined, ""],
    [
      "a getter that throws",
      () => Object.defineProperty({}, "x", { enumerable: true, get: trap }),
      "completed; do not repeat",
    ],
    [
      "a proxy that throws",
      () => new Proxy({}, { get: (_target, name) => (name === THEN ? undefined : trap()), ownKeys: trap }),
      "completed; do not repeat",
    ],
    ["a toJSON that throws", () => ({ toJSON: trap }), "completed; do not repeat"],
  ])(
    "C73: a write that has happened and answers %s is done, not failed and not repeated",
    async (_what, answer, text) => {
      const { world, bench } = openWorld({
        overrides: {
          send: {
            executionMode: "parallel",
            execute: async ({ body }: { readonly body: string }) => {
              world.outbox.push(body);
              return body === "odd" ? answer() : "sent";
            },
          } as never,
        },
      });
      const running = await playIn(bench, [send("odd"), send("even")]);
      const { settled } = await running.result;
      expect(settled.map(({ outcome, result }) => [outcome, result.isError, result.outcomeUncertain])).toEqual([
        ["succeeded", false, false],
        ["succeeded", false, false],
      ]);
      expect(textOf(settled[0]?.result.content ?? []).startsWith(text)).toBe(true);
      expect(textOf(settled[1]?.result.content ?? [])).toBe("sent");
      expect(world.outbox).toEqual(["odd", "even"]);
    },
  );
});
