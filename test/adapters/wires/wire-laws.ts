import fc from "fast-check";
import { createToolSession } from "toolkernel";
import { describe, expect, it } from "vitest";
import type { BatchResult } from "../../../src/domain/batch.ts";
import type { DraftResponse } from "../../../src/domain/call.ts";
import { type GivenCall, givenCalls, givenTurn } from "./arbitraries.ts";
import { answerId, settleDraft } from "./settle-draft.ts";

/** One wire, as the laws need it: how its provider writes, and how an answer to it is read. */
export interface Wire {
  readonly name: string;
  /** The provider's whole response; an undefined reason is one that the provider left out. */
  readonly respond: (calls: readonly GivenCall[], reason: string | undefined) => object;
  readonly callsFrom: (response: never) => DraftResponse;
  readonly messagesOut: (batch: Pick<BatchResult, "messages">) => readonly object[];
  /** What the messages say, result by result, in the order they stand. */
  readonly readBack: (messages: readonly object[]) => readonly ReadResult[];
  /** The text after the results, if there is one. */
  readonly readPolicy: (messages: readonly object[]) => string | undefined;
  readonly reasons: {
    readonly normal: readonly string[];
    readonly cut: readonly string[];
    readonly bad: readonly string[];
  };
  /** Whether the wire can do without ids. */
  readonly idsAreOptional?: true;
  /** Whether arguments stand as text on the wire. */
  readonly argumentsAreText?: true;
}

/** One result as the wire carries it. */
export interface ReadResult {
  readonly id?: unknown;
  readonly body: unknown;
}

/** The laws that hold for every wire. */
export function describeWireLaws(wire: Wire): void {
  describe(`the laws of a wire, for ${wire.name}`, () => {
    holdReading(wire);
    holdIds(wire);
    holdWriting(wire);
  });
}

/** What comes in: calls, as they stand and with all their fields, and whether they may run. */
function holdReading(wire: Wire): void {
  it("ids, names and arguments come out as they stand, in source order", () => {
    fc.assert(
      fc.property(givenCalls, (calls) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        expect(draft.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))).toEqual(
          calls.map((call) => ({
            id: call.id ?? "",
            name: call.name,
            arguments: wire.argumentsAreText ? JSON.stringify(call.arguments) : call.arguments,
          })),
        );
      }),
    );
  });

  it("fields of a call that the adapter knows nothing of are kept as they are", () => {
    fc.assert(
      fc.property(givenCalls, (calls) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        const lost = calls.filter(({ opaque }, index) => {
          return opaque !== undefined && !textsOf(draft.calls[index]?.providerData).includes(opaque);
        });
        expect(lost).toEqual([]);
      }),
    );
  });

  it.each(["", undefined, ...wire.reasons.normal])("the reason %j is a normal end", (reason) => {
    expect(read(wire, [CALL], reason).stopReason).toBe("toolUse");
    expect(read(wire, [], reason).stopReason).toBe("stop");
  });

  it.each(wire.reasons.cut)("C39: after %j no call may run", (reason) => {
    fc.assert(
      fc.property(givenCalls, (calls) => {
        const draft = read(wire, calls, reason);
        expect(draft.stopReason).toBe("length");
        expect(draft.calls).toHaveLength(calls.length);
      }),
    );
  });

  it.each(wire.reasons.bad)("PREP-10: the reason %j is an error", (reason) => {
    expect(read(wire, [CALL], reason).stopReason).toBe("error");
    expect(read(wire, [], reason).stopReason).toBe("error");
  });
}

/** One result per call, under the id by which the provider knows it. */
function holdIds(wire: Wire): void {
  it("C57, C58: each call has one result, in source order, under the provider's own id", () => {
    fc.assert(
      fc.property(givenTurn, ({ calls, results, policyText }) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        const messages = wire.messagesOut(settleDraft(draft, results, policyText));
        expect(wire.readBack(messages).map((result) => result.id)).toEqual(expectedIds(wire, calls));
      }),
    );
  });

  it("C57, C58: so it is when a session runs them, and the provider's fields come with each result", async () => {
    await fc.assert(
      fc.asyncProperty(givenCalls, async (calls) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        await using session = createToolSession({ tools: [] });
        const { messages } = await session.execute(draft).result;
        expect(wire.readBack(wire.messagesOut({ messages })).map((result) => result.id)).toEqual(
          expectedIds(wire, calls),
        );
        const results = messages.filter((message) => message.role === "toolResult");
        expect(results.map((message) => message.providerData)).toEqual(draft.calls.map((call) => call.providerData));
      }),
      { numRuns: 30 },
    );
  });

  it("PREP-9: an id that comes again in a later turn maps back in each", () => {
    fc.assert(
      fc.property(givenTurn, givenTurn, (one, other) => {
        for (const turn of [one, other]) {
          const calls = turn.calls.map((call, index) => ({ ...call, id: `call_${index}` }));
          const draft = read(wire, calls, wire.reasons.normal[0]);
          const read_ = wire.readBack(wire.messagesOut(settleDraft(draft, turn.results)));
          expect(read_.map((result) => result.id)).toEqual(calls.map((call) => call.id));
        }
      }),
    );
  });
}

/** What goes out: everything, well-formed, in the same bytes. */
function holdWriting(wire: Wire): void {
  it("C72: every text that goes out is well-formed", () => {
    fc.assert(
      fc.property(givenTurn, ({ calls, results, policyText }) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        const messages = wire.messagesOut(settleDraft(draft, results, policyText));
        expect(textsOf(messages).filter((text) => !text.isWellFormed())).toEqual([]);
      }),
    );
  });

  it("C10: equal input gives equal bytes", () => {
    fc.assert(
      fc.property(givenTurn, ({ calls, results, policyText }) => {
        const batch = settleDraft(read(wire, calls, wire.reasons.normal[0]), results, policyText);
        const bytes = JSON.stringify(wire.messagesOut(batch));
        expect(JSON.stringify(wire.messagesOut(structuredClone(batch)))).toBe(bytes);
      }),
    );
  });

  it("nothing of a result is dropped in silence", () => {
    fc.assert(
      fc.property(givenTurn, ({ calls, results }) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        const out = JSON.stringify(wire.messagesOut(settleDraft(draft, results)));
        const mediaTypes = results
          .flatMap((result) => result.content)
          .flatMap((part) => ("mediaType" in part && part.mediaType !== undefined ? [part.mediaType] : []));
        expect(mediaTypes.filter((mediaType) => !out.includes(mediaType))).toEqual([]);
      }),
    );
  });

  it("REP-4: the kernel's own text comes after the results", () => {
    fc.assert(
      fc.property(givenTurn, ({ calls, results }) => {
        const draft = read(wire, calls, wire.reasons.normal[0]);
        const messages = wire.messagesOut(settleDraft(draft, results, "One word to the model."));
        expect(wire.readPolicy(messages)).toBe("One word to the model.");
        expect(wire.readBack(messages)).toHaveLength(calls.length);
      }),
    );
  });

  it("a batch without calls says nothing", () => {
    expect(wire.messagesOut({ messages: [] })).toEqual([]);
  });
}

const CALL: GivenCall = { id: "call_1", name: "read", arguments: { path: "a" } };

/** Where the wire can do without, the provider's own; elsewhere every result has one. */
function expectedIds(wire: Wire, calls: readonly GivenCall[]): readonly (string | undefined)[] {
  return calls.map(({ id }, index) => (wire.idsAreOptional ? id || undefined : answerId(id, index)));
}

function read(wire: Wire, calls: readonly GivenCall[], reason: string | undefined): DraftResponse {
  // Over the network a response is JSON; `respond` writes what `callsFrom` of the same wire reads.
  return wire.callsFrom(JSON.parse(JSON.stringify(wire.respond(calls, reason))) as never);
}

/** Every text of a value, keys of objects included. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") {
    return [value];
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, item]) => [...(Array.isArray(value) ? [] : [key]), ...textsOf(item)]);
}
