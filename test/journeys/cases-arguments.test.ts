import { compat, type JsonObject } from "toolkernel";
import { describe, expect, it } from "vitest";
import { caseTools } from "../support/case-tools.ts";
import { draftOn } from "../support/cases-arguments-scene.ts";
import { call, play, recordingTool, textsOf, verdictsOf } from "../support/run-calls.ts";

const object = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  type: "object",
  properties,
  required,
});

describe("drafts of real models", () => {
  it.each([[""], ["  \n"], [undefined], [null], ["{}"]])(
    "C36: empty arguments (%j) are {}, or name the fields missing",
    async (draft) => {
      const { tools, done } = caseTools();
      const { result } = await play({ tools }, [call("noargs", draft, "a"), call("edit", draft, "b")]);
      expect(verdictsOf(result)).toEqual(["succeeded", "refused:invalidArguments"]);
      expect(textsOf(result)[1]).toBe(
        "invalid_arguments: missing required property 'path'; missing required property 'oldText'; missing required property 'newText'",
      );
      expect(done).toEqual(["noargs"]);
    },
  );

  it.each(["null", "5", "[1]", "true", '"text"'])(
    "C37: %s is valid JSON and no object: not dispatched, and told so",
    async (draft) => {
      const { tools, done } = caseTools();
      const { result } = await play({ tools }, [call("noargs", draft)]);
      expect(verdictsOf(result)).toEqual(["refused:invalidArguments"]);
      expect(textsOf(result)[0]).toContain("arguments must be a JSON object");
      expect(done).toEqual([]);
    },
  );

  it.each<[string, object, string, JsonObject, string]>([
    [
      "a list of objects",
      object({ path: { type: "string" }, edits: { type: "array", items: { type: "object" } } }),
      '{"path":"a","edits":"[{\\"oldText\\":\\"a\\",\\"newText\\":\\"b\\"}]"}',
      { path: "a", edits: [{ oldText: "a", newText: "b" }] },
      "parseStringified /edits",
    ],
    [
      "a list of texts",
      object({ queries: { type: "array", items: { type: "string" } } }),
      '{"queries":"[\\"test\\"]"}',
      { queries: ["test"] },
      "parseStringified /queries",
    ],
    [
      "an integer",
      object({ maxBytes: { type: "integer" } }),
      '{"maxBytes":"200000"}',
      { maxBytes: 200_000 },
      "exactScalars /maxBytes",
    ],
    [
      "an object",
      object({ headers: { type: "object" } }),
      '{"headers":"{\\"User-Agent\\":\\"x\\"}"}',
      { headers: { "User-Agent": "x" } },
      "parseStringified /headers",
    ],
  ])(
    "C40: %s sent as text is refused, and with compat parsed and reported",
    async (_what, schema, draft, parsed, repair) => {
      const strict = await draftOn(schema, draft);
      const tolerant = await draftOn(schema, draft, { compat: compat.all });
      expect([strict.verdict, strict.runs, strict.repairs]).toEqual(["refused:invalidArguments", [], []]);
      expect([tolerant.verdict, tolerant.runs]).toEqual(["succeeded", [parsed]]);
      expect(tolerant.repairs.map(({ step, pointer }) => `${step} ${pointer}`)).toEqual([repair]);
    },
  );

  it("C40: text stays text where the schema takes text at that place", async () => {
    const schema = object({ body: { type: "string" } });
    const { runs, repairs } = await draftOn(schema, '{"body":"[1]"}', { compat: compat.all });
    expect([runs, repairs]).toEqual([[{ body: "[1]" }], []]);
  });

  it("C42: a list in text under string | string[] is left alone; the tool's own preparer may parse it", async () => {
    const schema = object({ paths: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] } });
    const draft = '{"paths":"[\\"package.json\\"]"}';
    const tolerant = await draftOn(schema, draft, { compat: compat.all });
    expect([tolerant.runs, tolerant.repairs]).toEqual([[{ paths: '["package.json"]' }], []]);
    const { tool, runs } = recordingTool({
      inputSchema: schema,
      prepareArguments: (given) => ({ paths: JSON.parse(String((given as JsonObject).paths)) as string[] }),
    });
    await play({ tools: [tool] }, [call("read", draft)]);
    expect(runs).toEqual([{ paths: ["package.json"] }]);
  });

  it("C43: text that looks like JSON comes through byte for byte, with compat as well", async () => {
    const comment = '[some-label]: {"foo":"bar"}\nInitiator: [~accountid:123]';
    const schema = object({ comment: { type: "string" } });
    for (const options of [{}, { compat: compat.all }]) {
      const { runs, repairs } = await draftOn(schema, JSON.stringify({ comment }), options);
      expect([runs, repairs]).toEqual([[{ comment }], []]);
    }
  });

  it("C45: null for an optional field is refused, and with compat dropped and reported", async () => {
    const { tools, done } = caseTools();
    const calls = [call("page", '{"path":"a","limit":null}')];
    const strict = await play({ tools }, calls);
    const tolerant = await play({ tools, compat: compat.all }, calls);
    expect([verdictsOf(strict.result), verdictsOf(tolerant.result)]).toEqual([
      ["refused:invalidArguments"],
      ["succeeded"],
    ]);
    expect(tolerant.result.settled[0]?.repairs).toEqual([{ step: "dropNullOptionals", pointer: "/limit" }]);
    expect(done).toEqual(["page a"]);
  });

  it.each<[string, object, string, "kept" | "refused"]>([
    ["the text null for a text", object({ s: { type: "string" } }), '{"s":"null"}', "kept"],
    ["the text null for an integer", object({ n: { type: "integer" } }), '{"n":"null"}', "refused"],
    ["null where it is required", object({ n: { type: "integer" } }), '{"n":null}', "refused"],
    ["null where null is taken", object({ n: { type: ["integer", "null"] } }, []), '{"n":null}', "kept"],
  ])("C45: %s fares alike with and without compat", async (_what, schema, draft, fate) => {
    for (const options of [{}, { compat: compat.all }]) {
      const { runs, verdict, repairs } = await draftOn(schema, draft, options);
      expect(verdict).toBe(fate === "kept" ? "succeeded" : "refused:invalidArguments");
      expect(runs).toEqual(fate === "kept" ? [JSON.parse(draft)] : []);
      expect(repairs).toEqual([]);
    }
  });

  it.each<[string, object]>([
    ['{"name":null}', { name: { type: "string" } }],
    ['{"num":null}', { num: { type: "integer" } }],
    ['{"flag":0}', { flag: { type: "boolean" } }],
    ['{"n":""}', { n: { type: "integer" } }],
    ['{"n":true}', { n: { type: "integer" } }],
    ['{"n":"1.5"}', { n: { type: "integer" } }],
    ['{"n":"0x10"}', { n: { type: "integer" } }],
    ['{"id":"9007199254740993"}', { id: { type: "integer" } }],
  ])("C46: %s is refused, and no compat step changes its meaning", async (draft, properties) => {
    for (const options of [{}, { compat: compat.all }]) {
      const { runs, verdict, repairs } = await draftOn(object(properties), draft, options);
      expect([verdict, runs, repairs]).toEqual(["refused:invalidArguments", [], []]);
    }
  });

  it.each<[string, object, JsonObject, string]>([
    ['{"id":"1"}', { id: { type: "integer" } }, { id: 1 }, "exactScalars /id"],
    ['{"flag":"false"}', { flag: { type: "boolean" } }, { flag: false }, "exactScalars /flag"],
    ['{"items":"a"}', { items: { type: "array" } }, { items: ["a"] }, "wrapSingle /items"],
  ])(
    "C46: %s is refused, and with compat repaired without loss and reported",
    async (draft, properties, repaired, repair) => {
      expect((await draftOn(object(properties), draft)).verdict).toBe("refused:invalidArguments");
      const tolerant = await draftOn(object(properties), draft, { compat: compat.all });
      expect(tolerant.runs).toEqual([repaired]);
      expect(tolerant.repairs.map(({ step, pointer }) => `${step} ${pointer}`)).toEqual([repair]);
    },
  );

  it("C48: code in braces comes through byte for byte", async () => {
    for (const options of [{}, { compat: compat.all }]) {
      const { runs } = await draftOn(object({ code: { type: "string" } }), '{"code":"if(a){b}{c}"}', options);
      expect(runs).toEqual([{ code: "if(a){b}{c}" }]);
    }
  });

  it.each([
    ['{path: "hunter2"}', "position 1"],
    ['{{"path":"hunter2"}}', "position 1"],
    ['{"re":"\\*hunter2"}', "position 7"],
    ['{"path":"hunter2",}', "position 18"],
    ['```json\n{"path":"hunter2"}\n```', "position 0"],
  ])("C49: %s is refused by its position, without its payload, with compat too", async (draft, position) => {
    for (const options of [{}, { compat: compat.all }]) {
      const { verdict, text, runs } = await draftOn({ type: "object" }, draft, options);
      expect([verdict, runs]).toEqual(["refused:invalidArguments", []]);
      expect(text).toContain(position);
      expect(text).not.toContain("hunter2");
    }
  });
});
