import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

// A host in a worker: no Node built-ins, and code generation forbidden, so ajv gives way to a validator that interprets.
const HOST = `
import { Validator } from "@cfworker/json-schema";
import { createToolSession, defineTool, Agent, memoryJournal } from "toolkernel";
const interpreting = {
  compile: (schema, { dialect }) => {
    const validator = new Validator(schema, dialect === "draft-07" ? "7" : "2020-12");
    return (value) =>
      validator.validate(value).errors.map(({ instanceLocation, error }) => ({ pointer: instanceLocation.slice(1), message: error }));
  },
};
const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  risk: "readOnly",
  execute: ({ a, b }) => a + b,
});
globalThis.play = async (validated) => {
  const session = createToolSession({ tools: [add], ...(validated && { jsonSchemaValidator: interpreting }) });
  const { settled } = await session.execute([
    { id: "1", name: "add", arguments: '{"a":1,"b":2}' },
    { id: "2", name: "add", arguments: '{"a":"one","b":2}' },
  ]).result;
  await session.close();
  return JSON.stringify(settled.map(({ outcome, result }) => [outcome, result.content[0]]));
};
globalThis.parts = [typeof Agent, typeof memoryJournal];
`;

describe("the core in a worker-like runtime", () => {
  let bundle = "";

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: HOST, resolveDir: process.cwd(), loader: "js" },
      bundle: true,
      platform: "browser",
      format: "iife",
      alias: { toolkernel: "./src/index.ts" },
      write: false,
      logLevel: "silent",
    });
    bundle = outputFiles[0]?.text ?? "";
  });

  function startWorker(): EdgeVM {
    const worker = new EdgeVM({ codeGeneration: { strings: false, wasm: false } } as never);
    worker.evaluate(bundle);
    return worker;
  }

  it("bundles for the browser without a Node built-in", () => {
    expect(bundle.length).toBeGreaterThan(0);
    expect(bundle).not.toMatch(/require\("node:|from "node:/);
  });

  it("settles every call, with a validator that interprets schemas where none may be compiled", async () => {
    const worker = startWorker();
    const settled = JSON.parse(await worker.evaluate("play(true)")) as readonly (readonly [
      string,
      { text?: string },
    ])[];
    expect(settled.map(([outcome]) => outcome)).toEqual(["succeeded", "refused"]);
    expect(settled[1]?.[1].text).toMatch(/^invalid_arguments: .*\/a/);
  });

  it("says plainly that ajv may not generate code there", async () => {
    const worker = startWorker();
    const fault = await worker.evaluate(
      '(async () => { try { await play(false); return "nothing"; } catch (error) { return error.code + ": " + error.message; } })()',
    );
    expect(fault).toMatch(/^INVALID_TOOL_SCHEMA: .*jsonSchemaValidator/);
  });
});
