import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashParts } from "../../src/actions/hash-parts.ts";
import { InputOwners } from "../../src/actions/input-owners.ts";
import { checkIntent } from "../../src/actions/intent.ts";
import { defaultOperationId } from "../../src/actions/operation-id.ts";
import { mustBeId } from "../../src/domain/check-options.ts";
import { isName, nameFault } from "../../src/domain/names.ts";
import { checkRunId } from "../../src/journal/run-store/run-id.ts";
import { checked, intentOf, makeRig } from "./rig.ts";

describe("what can be written down", () => {
  it.each([
    ["operationId", { operationId: "" }],
    ["operationId", { operationId: "a\u0000b" }],
    ["operationId", { operationId: "a\ud800" }],
    ["operationId", { operationId: "é".repeat(257) }],
    ["operationId", { operationId: 7 }],
    ["action", { action: "" }],
    ["sessionId", { sessionId: undefined }],
    ["actorId", { actorId: "\0" }],
    ["inputId", { inputId: "" }],
    ["moment.timelineId", { moment: undefined }],
    ["moment.timelineId", { moment: { timelineId: "", tick: 1 } }],
    ["moment.tick", { moment: { timelineId: "main", tick: Number.NaN } }],
    ["moment.tick", { moment: { timelineId: "main", tick: "7" } }],
    ["generationId", { generationId: "" }],
    ["expectedRevision", { expectedRevision: Number.POSITIVE_INFINITY }],
    ["conflictKeys", { conflictKeys: "k" }],
    ["conflictKeys", { conflictKeys: [""] }],
    ["conflictKeys", { conflictKeys: ["a\nb"] }],
    ["conflictKeys", { conflictKeys: ["\udc00"] }],
    ["conflictKeys", { conflictKeys: ["k".repeat(1_025)] }],
    ["conflictKeys", { conflictKeys: Array.from({ length: 17 }, (_, place) => `${place}`) }],
    ["arguments", { arguments: { n: 1n } }],
    ["arguments", { arguments: { n: Number.NaN } }],
    ["arguments", { arguments: { when: new Date(0) } }],
    ["arguments", { arguments: JSON.parse('{"__proto__":{"admin":true}}') }],
    ["arguments", { arguments: JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`) }],
    ["arguments", { arguments: { text: "x".repeat(1_048_576) } }],
    [
      "arguments",
      {
        arguments: {
          get secret() {
            throw new Error("hidden");
          },
        },
      },
    ],
  ])("ACT-8: an intent whose %s cannot be kept is refused before anything is written", async (subject, more) => {
    const rig = makeRig();
    const dispatching = rig.dispatcher.dispatch(intentOf("a", more as never));
    await expect(dispatching).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject });
    await expect(dispatching).rejects.not.toThrow("hidden");
    expect(rig.calls).toHaveLength(0);
    expect((await rig.journal.listOpen({ limit: 1 })).entries).toEqual([]);
  });

  it("ACT-8: what is just within the bounds is written", () => {
    const intent = intentOf("é".repeat(256), {
      arguments: { deep: JSON.parse(`${"[".repeat(63)}${"]".repeat(63)}`), absent: undefined } as never,
      conflictKeys: Array.from({ length: 16 }, (_, place) => `${place}`.padStart(1_024, "k")).sort(),
      generationId: "g",
      expectedRevision: 0,
    });
    const { intent: kept, intentText } = checkIntent(intent);
    expect(kept).toEqual(JSON.parse(JSON.stringify(intent)));
    expect(JSON.parse(intentText)).toEqual(kept);
  });

  it("ACT-7: the hash of an intent follows all that makes intents equal, and nothing else", () => {
    const { intentHash } = checked("a", { arguments: { a: 1, b: [1, 2] } });
    expect(checked("b", { arguments: { b: [1, 2], a: 1 }, conflictKeys: ["k"], expectedRevision: 2 }).intentHash).toBe(
      intentHash,
    );
    expect(checked("a", { arguments: { a: 1, b: [2, 1] } }).intentHash).not.toBe(intentHash);
  });

  it("ACT-4: a scope is a key in its timeline and generation, and keys that run into one another stay apart", () => {
    const scopesOf = (more: object): string[] => checked("a", more).scopes.map(({ id }) => id);
    const ids = [
      scopesOf({ conflictKeys: ["ab"] }),
      scopesOf({ conflictKeys: ["abmain"] }),
      scopesOf({ conflictKeys: ["ab"], generationId: "g" }),
      scopesOf({ conflictKeys: ["ab"], moment: { timelineId: "maing", tick: 1 } }),
    ].flat();
    expect(new Set(ids).size).toBe(4);
    expect(scopesOf({ conflictKeys: ["ab"], moment: { timelineId: "main", tick: 99 } })).toEqual([ids[0]]);
  });
});

describe("operation ids", () => {
  it("ACT-8: the default id is a hash over where in which input the action stands", () => {
    const input = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "t", tick: 1 } };
    const place = { input, turn: 1, callIndex: 0, action: "build" };
    const ids = [
      place,
      { ...place, turn: 2 },
      { ...place, callIndex: 1 },
      { ...place, action: "harvest" },
      { ...place, input: { ...input, sessionId: "other" } },
      { ...place, input: { ...input, actorId: "other" } },
      { ...place, input: { ...input, inputId: "other" } },
      { ...place, input: { ...input, generationId: "g" } },
      { ...place, input: { ...input, moment: { timelineId: "t", tick: 2 } } },
      { ...place, input: { ...input, moment: { timelineId: "u", tick: 1 } } },
      { ...place, turn: 11, callIndex: 0 },
      { ...place, turn: 1, callIndex: 10 },
    ].map(defaultOperationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.map(nameFault)).toEqual(ids.map(() => undefined));
    expect(defaultOperationId({ ...place, input: { ...input, moment: { timelineId: "t", tick: 1 } } })).toBe(ids[0]);
  });

  it.each([
    ["a", true],
    ["é".repeat(256), true],
    ["é".repeat(257), false],
    ["a".repeat(513), false],
    ["", false],
    ["a\u0000", false],
    ["\ud800", false],
    [7, false],
    [undefined, false],
  ])("ACT-8, RUN-6: %j is an id everywhere, or nowhere", (id, isOne) => {
    const refuses = (check: () => unknown): boolean => {
      try {
        return check() !== undefined;
      } catch {
        return true;
      }
    };
    expect([isName(id), !refuses(() => mustBeId(id)), !refuses(() => checkRunId(id))]).toEqual([isOne, isOne, isOne]);
    expect(refuses(() => checked("a", { operationId: id as string }) && undefined)).toBe(!isOne);
  });

  it("ACT-8: no two different lists of texts have one hash", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 4 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.array(text, { maxLength: 4 }), (one, other) => {
        const isEqual = one.length === other.length && one.every((part, place) => part === other[place]);
        expect(hashParts(one) === hashParts(other)).toBe(isEqual);
      }),
    );
    expect(hashParts(["ab", "c"])).not.toBe(hashParts(["a", "bc"]));
  });

  it("ACT-8: an input object belongs to the first run that uses it", () => {
    const owners = new InputOwners();
    const input = {};
    owners.bind(input, "run-1");
    owners.bind(input, "run-1");
    owners.bind({}, "run-2");
    expect(() => owners.bind(input, "run-2")).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: "input" }),
    );
  });
});

describe("the dispatcher's options", () => {
  it.each([
    ["receiptCommitTimeoutMs", 0],
    ["receiptCommitTimeoutMs", 1.5],
    ["conflictWaitTimeoutMs", -1],
    ["conflictWaitTimeoutMs", Number.POSITIVE_INFINITY],
    ["journal", {}],
    ["handler", {}],
  ])("a wrong %s is refused", (option, value) => {
    expect(() => makeRig({ options: { [option]: value } })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject: option }),
    );
  });
});
