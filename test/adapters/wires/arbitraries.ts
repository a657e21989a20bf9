import fc from "fast-check";
import type { ContentPart } from "../../../src/domain/content.ts";
import type { GivenResult } from "./settle-draft.ts";

/** A call as some provider might send it. */
export interface GivenCall {
  /** Absent where the provider gave none. */
  readonly id?: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
  /** A field that the adapter knows nothing of. */
  readonly opaque?: string;
}

/** A whole turn: the calls of a response, and what the tools gave back. */
export interface GivenTurn {
  readonly calls: readonly GivenCall[];
  readonly results: readonly GivenResult[];
  readonly policyText?: string;
}

/** UTF-16 text in which surrogates may stand alone. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
);

const base64: fc.Arbitrary<string> = fc
  .uint8Array({ maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));

const mediaPart: fc.Arbitrary<ContentPart> = fc.record(
  {
    type: fc.constantFrom("image" as const, "audio" as const, "file" as const),
    mediaType: fc.constantFrom(
      "image/png",
      "image/tiff",
      "audio/wav",
      "application/pdf",
      "text/csv",
      "application/zip",
    ),
    data: base64,
    name: anyText,
  },
  { requiredKeys: ["type", "mediaType", "data"] },
);

const resourcePart: fc.Arbitrary<ContentPart> = fc.record(
  { type: fc.constant("resource" as const), uri: anyText, mediaType: fc.constant("text/plain"), text: anyText },
  { requiredKeys: ["type", "uri"] },
);

/** One part of a result, of any kind. */
export const contentPart: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: anyText }),
  fc.record({
    type: fc.constant("json" as const),
    value: fc.oneof(fc.jsonValue(), fc.dictionary(anyText, anyText, { maxKeys: 3 })),
  }) as fc.Arbitrary<ContentPart>,
  mediaPart,
  resourcePart,
);

const callId: fc.Arbitrary<string | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant(""),
  fc.constant("undefined"),
  fc.constant("call_0"),
  fc.stringMatching(/^[a-z0-9_-]{1,40}$/),
  fc.stringMatching(/^call_[a-z0-9]{61}$/),
  fc.stringMatching(/^fc[|][a-z0-9]{200}$/),
);

const givenCall: fc.Arbitrary<GivenCall> = fc
  .record(
    {
      id: callId,
      name: fc.stringMatching(/^[a-z_]{1,12}$/),
      arguments: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
        maxKeys: 3,
      }),
      opaque: fc.stringMatching(/^[A-Za-z0-9+/=]{1,30}$/),
    },
    { requiredKeys: ["name", "arguments"] },
  )
  .map(({ id, ...call }) => (id === undefined ? call : { ...call, id }));

/** One to five calls; ids that are given are distinct within the response, as a valid response has them. */
export const givenCalls: fc.Arbitrary<readonly GivenCall[]> = fc
  .array(givenCall, { minLength: 1, maxLength: 5 })
  .map((calls) => calls.map((call, index) => (isTaken(calls, index) ? withoutId(call) : call)));

/** A whole turn with a result for each call. */
export const givenTurn: fc.Arbitrary<GivenTurn> = givenCalls.chain((calls) =>
  fc.record(
    {
      calls: fc.constant(calls),
      results: fc.array(fc.record({ content: fc.array(contentPart, { maxLength: 4 }), isError: fc.boolean() }), {
        minLength: calls.length,
        maxLength: calls.length,
      }),
      policyText: fc.stringMatching(/^[a-z ]{1,20}\.$/),
    },
    { requiredKeys: ["calls", "results"] },
  ),
);

function isTaken(calls: readonly GivenCall[], index: number): boolean {
  const id = calls[index]?.id;
  return id !== undefined && id !== "" && calls.slice(0, index).some((call) => call.id === id);
}

function withoutId({ id: _, ...call }: GivenCall): GivenCall {
  return call;
}
