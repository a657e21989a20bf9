import { describe, expect, it } from "vitest";
import type { KeyDescription } from "../../src/cli/conversation-file.ts";
import { toolPolicies } from "../../src/cli/tool-policies.ts";
import type { JsonObject } from "../../src/domain/json.ts";

function keysFor(conflictKey: KeyDescription | readonly KeyDescription[], args: JsonObject): unknown {
  const { tool } = toolPolicies({ tools: { tool: { conflictKey } } }, "/work space");
  return tool?.conflictKey?.(args, { host: undefined, runId: "run" });
}

describe("policies as JSON become policies of the kernel", () => {
  it("plain fields are taken as they are, and no key is made where none is described", () => {
    const description = { risk: "readOnly", executionMode: "parallel", timeoutMs: 5 } as const;
    expect(toolPolicies({ tools: { tool: description } }, "/w")).toEqual({ tool: description });
    expect(toolPolicies({}, "/w")).toEqual({});
  });

  it("PREP-5: a file key names the path that is meant, however it is written", () => {
    const key = { file: "path" };
    const spellings = ["/work space/a/b.txt", "a/b.txt", "./a/../a/b.txt", "/work space//a/./b.txt"];
    for (const path of spellings) {
      expect(keysFor(key, { path })).toEqual(["file:/work space/a/b.txt"]);
    }
  });

  it("PREP-5: a list of paths gives a key each, and several descriptions add up", () => {
    expect(keysFor({ file: "paths" }, { paths: ["a", "b"] })).toEqual(["file:/work space/a", "file:/work space/b"]);
    expect(keysFor([{ file: "from" }, { file: "to" }], { from: "a", to: "b" })).toEqual([
      "file:/work space/a",
      "file:/work space/b",
    ]);
  });

  it("PREP-5: a template takes texts, numbers and booleans from the arguments", () => {
    const key = { template: "row:{table}/{id}:{soft}" };
    expect(keysFor(key, { table: "t", id: 7, soft: false })).toEqual(["row:t/7:false"]);
  });

  it.each<[KeyDescription, JsonObject]>([
    [{ file: "path" }, {}],
    [{ file: "path" }, { path: 1 }],
    [{ file: "path" }, { path: ["a", null] }],
    [{ file: "constructor" }, {}],
    [{ template: "{id}" }, {}],
    [{ template: "{id}" }, { id: null }],
    [{ template: "{id}" }, { id: { a: 1 } }],
  ])("PREP-5: %j throws for %j, so that no write runs without the key it was meant to have", (key, args) => {
    expect(() => keysFor(key, args)).toThrow(TypeError);
  });
});
