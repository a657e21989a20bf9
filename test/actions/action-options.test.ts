import { describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionTool } from "../../src/actions/game-action-tool.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import { memoryJournal } from "../../src/journal/memory.ts";
import { intentOf } from "./rig.ts";

const handler = { execute: (intent: never) => GameActionReceipt.committed(intent, {}) };
const dispatcher = () => new GameActionDispatcher({ journal: memoryJournal(), handler });

/** What an error says an option is called, after `INVALID_OPTIONS` was seen to be its code. */
function namedBy(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    expect(error).toMatchObject({ name: "KernelError", code: "INVALID_OPTIONS" });
    expect(String(error)).not.toContain("secret");
    return (error as { readonly subject: unknown }).subject;
  }
  return "nothing was refused";
}

describe("options of a durable tool", () => {
  const input = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "main", tick: 1 } };
  const make = (options: object) =>
    GameActionTool.create({
      input,
      name: "build",
      description: "",
      inputSchema: { type: "object" },
      dispatcher: dispatcher(),
      ...options,
    });

  it("PROJ-2: a projector whose name is misspelled is refused: without it the model would see everything", () => {
    expect(namedBy(() => make({ modelReceiptProjecter: () => ({}) }))).toBe("modelReceiptProjecter");
  });

  it.each(["modelReceiptProjector", "operationId", "expectedRevision", "dispatcher", "input"])(
    "%s of a wrong type is refused by its name",
    (option) => {
      for (const value of [null, 5, "secret"]) expect(namedBy(() => make({ [option]: value }))).toBe(option);
    },
  );
});

describe("options of a dispatcher", () => {
  it.each(["journal", "handler", "receiptCommitTimeoutMs", "conflictWaitTimeoutMs", "clock", "conflictWaitTimeout"])(
    "%s of a wrong type, or unknown, is refused by its name",
    (option) => {
      for (const value of [null, 0, "secret", {}]) {
        const options = { journal: memoryJournal(), handler, [option]: value };
        expect(namedBy(() => new GameActionDispatcher(options as never))).toBe(option);
      }
    },
  );

  it("a recover that cannot be called is refused, and not found out when it is needed", () => {
    const options = { journal: memoryJournal(), handler: { ...handler, recover: null } };
    expect(namedBy(() => new GameActionDispatcher(options as never))).toBe("handler");
  });

  it("ACT-1: a dispatch with what is no signal writes nothing down", async () => {
    const journal = memoryJournal();
    const dispatched = new GameActionDispatcher({ journal, handler }).dispatch(intentOf("a"), { signal: {} as never });
    await expect(dispatched).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "signal" });
    expect(await journal.find("a")).toBeUndefined();
  });

  it.each([null, undefined, 5, "secret"])("an intent %j is refused", async (intent) => {
    await expect(dispatcher().dispatch(intent as never)).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
  });

  it.each([null, 5, Symbol("secret"), {}])("an operation id that is not a string is not an unknown one", async (id) => {
    await expect(dispatcher().reconcile(id as never)).rejects.toMatchObject({ subject: "operationId" });
    const word = { status: "failed", evidence: "x" } as const;
    await expect(dispatcher().resolve(id as never, word)).rejects.toMatchObject({ subject: "operationId" });
  });
});

describe("a person's word", () => {
  const loop: Record<string, unknown> = {};
  loop.again = loop;

  it.each([
    ["code", { status: "failed", evidence: "x", code: 5 }],
    ["code", { status: "failed", evidence: "x", code: "c".repeat(257) }],
    ["message", { status: "rejected", evidence: "x", message: {} }],
    ["message", { status: "rejected", evidence: "x", message: "m".repeat(4_097) }],
    ["result", { status: "committed", evidence: "x", result: loop }],
    ["result", { status: "committed", evidence: "x", result: "r".repeat(1_048_576) }],
    ["evidence", { status: "committed", evidence: "e".repeat(1_048_576) }],
    ["reason", { status: "failed", evidence: "x", reason: "r" }],
    ["object", null],
  ])("ACT-5: %s is refused before the entry is taken over, so that a receipt stays one", async (part, word) => {
    const journal = memoryJournal();
    const execute = () => {
      throw new Error("lost");
    };
    const recover = (intent: never) => GameActionReceipt.committed(intent, {});
    const careful = new GameActionDispatcher({ journal, handler: { execute, recover } });
    await careful.dispatch(intentOf("a"));
    const before = await journal.find("a");
    await expect(careful.resolve("a", word as never)).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining(part),
    });
    expect(await journal.find("a")).toEqual(before);
    expect(await careful.reconcile("a")).toMatchObject({ disposition: "recovered" });
  });

  it("ACT-5: the longest one that is taken can be said again", async () => {
    const execute = () => {
      throw new Error("lost");
    };
    const careful = new GameActionDispatcher({ journal: memoryJournal(), handler: { execute } });
    await careful.dispatch(intentOf("a"));
    const word = { status: "failed", evidence: null, code: "c".repeat(256), message: "m".repeat(4_096) } as const;
    expect(await careful.resolve("a", word)).toEqual(await careful.resolve("a", word));
  });
});
