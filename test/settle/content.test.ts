import { describe, expect, it } from "vitest";
import { toolResult } from "../../src/domain/content.ts";
import { durableResult } from "../../src/domain/durable-result.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import { recordValue, toWellFormedJson } from "../../src/settle/record-value.ts";
import { readContent } from "../../src/settle/result-content.ts";
import { readReturn } from "../../src/settle/settle-call.ts";

const LONE = "a\ud800b";
const MENDED = "a\ufffdb";

const read = (content: unknown): unknown => readContent(content, 1_000);
const part = (given: unknown): unknown => read([given]);
const content = (...parts: unknown[]): unknown => ({ kind: "content", content: parts });
const UNKNOWN = { kind: "fault", fault: "content holds a part of an unknown form" };
const NO_CONTENT = { kind: "fault", fault: "content is neither text nor a list of parts" };

describe("content that a tool declares", () => {
  it("UNC-1: is text or a list of parts, and nothing at all where it is nothing", () => {
    expect(read(undefined)).toEqual(content());
    expect(read("said")).toEqual(content({ type: "text", text: "said" }));
    expect(read([])).toEqual(content());
    expect(
      read([
        { type: "text", text: "a" },
        { type: "json", value: null },
      ]),
    ).toEqual(content({ type: "text", text: "a" }, { type: "json", value: null }));
    for (const none of [null, true, 7, { type: "text", text: "a" }, { length: 0 }])
      expect(read(none)).toEqual(NO_CONTENT);
    expect(read([1n])).toEqual({ kind: "fault", fault: "not representable as JSON" });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "a"],
    ["a list", [{ type: "text", text: "a" }]],
    ["an object of no type", { text: "a" }],
    ["an unknown type", { type: "video", data: "QQ==", mediaType: "video/mp4" }],
    ["text without text", { type: "text" }],
    ["text that is none", { type: "text", text: 1 }],
    ["JSON without a value", { type: "json" }],
    ["an image without a media type", { type: "image", data: "QQ==" }],
    ["an image without data", { type: "image", mediaType: "image/png" }],
    ["an image whose media type is not a string", { type: "image", mediaType: 1, data: "QQ==" }],
    ["an image whose data is not a string", { type: "image", mediaType: "image/png", data: 1 }],
    ["a resource without an address", { type: "resource", text: "a" }],
    ["a resource whose address is not a string", { type: "resource", uri: 1 }],
    ["an embedded resource without an address", { type: "resource", uri: "file:///a", resource: { text: "a" } }],
  ])("UNC-1: %s is no part, and one such part is a fault of all", (_name, given) => {
    expect(read([{ type: "text", text: "a" }, given])).toEqual(UNKNOWN);
  });

  it.each(["image", "audio", "file"])("UNC-1: has %s, under the kernel's names and under MCP's", (type) => {
    const expected = { type, mediaType: "m/x", data: "QQ==" };
    expect(part({ type, mediaType: "m/x", data: "QQ==" })).toStrictEqual(content(expected));
    expect(part({ type, mimeType: "m/x", data: "QQ==", name: 1 })).toStrictEqual(content(expected));
    expect(part({ type, mediaType: "m/x", mimeType: "m/y", data: "QQ==", name: "n", other: 1 })).toStrictEqual(
      content({ ...expected, name: "n" }),
    );
    expect(part({ type, mediaType: LONE, data: LONE, name: LONE })).toStrictEqual(
      content({ type, mediaType: MENDED, data: MENDED, name: MENDED }),
    );
  });

  it.each(["resource", "resource_link"])("UNC-1: has a %s, flat and embedded", (type) => {
    const uri = "file:///a";
    expect(part({ type, uri })).toStrictEqual(content({ type: "resource", uri }));
    const rest = { uri, text: "t" };
    const expected = content({ type: "resource", uri, mediaType: "m/x", text: "t" });
    expect(part({ type, mediaType: "m/x", ...rest })).toStrictEqual(expected);
    expect(part({ type, resource: { mimeType: "m/x", ...rest } })).toStrictEqual(expected);
    expect(part({ type, uri: "file:///b", resource: { mediaType: "m/x", mimeType: "m/y", ...rest } })).toStrictEqual(
      expected,
    );
    for (const resource of [null, "file:///b", [{ uri: "file:///b" }]])
      expect(part({ type, uri, resource })).toStrictEqual(content({ type: "resource", uri }));
    expect(part({ type, uri, mediaType: 1, text: 2 })).toStrictEqual(content({ type: "resource", uri }));
    expect(part({ type, uri: LONE, mediaType: LONE, text: LONE })).toStrictEqual(
      content({ type: "resource", uri: MENDED, mediaType: MENDED, text: MENDED }),
    );
  });

  it("UNC-1: is well-formed wherever it stands", () => {
    expect(read(LONE)).toEqual(content({ type: "text", text: MENDED }));
    expect(part({ type: "json", value: { [LONE]: [LONE, null, 7, { a: LONE }] } })).toEqual(
      content({ type: "json", value: { [MENDED]: [MENDED, null, 7, { a: MENDED }] } }),
    );
    expect(toWellFormedJson(LONE)).toBe(MENDED);
    const whole = { a: ["\ud83d\ude00"] };
    expect(toWellFormedJson(whole)).toBe(whole);
    expect(toWellFormedJson(["\\ud800"])).toEqual(["\\ud800"]);
    for (const value of [null, true, 7]) expect(toWellFormedJson(value)).toBe(value);
  });
});

describe("a value that is recorded", () => {
  const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

  it("UNC-1: is what its JSON text says, as a copy", () => {
    expect(recordValue({ toJSON: () => ({ a: 1 }) }, 100)).toEqual({ kind: "json", value: { a: 1 } });
    expect(recordValue("said", 100)).toEqual({ kind: "json", value: "said" });
    for (const value of [null, true, false, 7]) expect(recordValue(value, 100)).toEqual({ kind: "json", value });
    for (const value of [undefined, () => 1, Symbol("a")]) expect(recordValue(value, 100)).toEqual({ kind: "empty" });
  });

  it("UNC-1: is at most as long as allowed, its quotes included", () => {
    expect(recordValue("abc", 5)).toEqual({ kind: "json", value: "abc" });
    expect(recordValue("abc", 4)).toEqual({
      kind: "fault",
      fault: "larger than 4 characters",
      size: 5,
      hash: "6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25",
    });
  });

  it("UNC-1: nests at most 64 deep, in any of its branches", () => {
    expect(recordValue(nested(64), 1_000)).toEqual({ kind: "json", value: nested(64) });
    expect(recordValue(nested(65), 1_000)).toEqual({ kind: "fault", fault: "nested too deeply", size: 130 });
    expect(recordValue([1, nested(64)], 1_000)).toMatchObject({ kind: "fault", fault: "nested too deeply" });
    expect(recordValue({ a: {}, b: nested(64) }, 1_000)).toMatchObject({ kind: "fault", fault: "nested too deeply" });
  });
});

describe("how deep content may be", () => {
  /** A value of so many containers, one in the other. */
  const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);

  it("UNC-1: 64 containers in a part that is declared, as in a value that is returned; one more is too deep", () => {
    for (const [levels, isKept] of [
      [64, true],
      [65, false],
    ] as const) {
      const declared = toolResult({ content: [{ type: "json", value: nested(levels) }] });
      for (const answer of [declared, nested(levels)]) {
        const { result } = readReturn(answer, { maxCharacters: 10_000, isWrite: true });
        expect(result.content[0]?.type === "json").toBe(isKept);
      }
    }
  });
});

describe("details of a receipt that cannot be recorded whole", () => {
  const canonical = { operationId: "o", status: "committed", code: null, timelineId: "main", tick: 7 };

  it.each([
    ["larger than 256 characters", "x".repeat(1_000)],
    ["nested too deeply", JSON.parse("[".repeat(64) + "]".repeat(64))],
  ])("PROJ-2: keep all but what it has come to (%s)", (fault, result) => {
    const answer = durableResult({ content: "built", details: { ...canonical, result } }, { code: "x" });
    const { result: read } = readReturn(answer, { maxCharacters: 256, isWrite: true });
    expect(read.details).toEqual({ ...canonical, result: expect.objectContaining({ kind: "fault", fault }) });
  });

  it("UNC-1: those of any other tool are a fault", () => {
    const answer = toolResult({ value: 1, details: { result: "x".repeat(1_000), status: "mine" } });
    const { result: read } = readReturn(answer, { maxCharacters: 256, isWrite: true });
    expect(read.details).toMatchObject({ kind: "fault" });
    expect(read.details).not.toHaveProperty("status");
  });
});
