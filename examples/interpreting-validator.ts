import { type Schema, Validator } from "@cfworker/json-schema";
import { createToolSession, defineTool, type JsonSchemaValidator, toolJsonSchema } from "toolkernel";

const interpreting: JsonSchemaValidator = {
  compile: (schema, { dialect }) => {
    const validator = new Validator(schema as Schema, dialect === "draft-07" ? "7" : "2020-12");
    return (value) =>
      validator
        .validate(value)
        .errors.map(({ instanceLocation, error }) => ({ pointer: instanceLocation.slice(1), message: error }));
  },
};

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  risk: "readOnly",
  execute: ({ a, b }) => Number(a) + Number(b),
});
console.log(Object.keys(toolJsonSchema(add)).join(", "));

const session = createToolSession({ tools: [add], jsonSchemaValidator: interpreting });
const { settled } = await session.execute([
  { id: "1", name: "add", arguments: '{ "a": 1, "b": 2 }' },
  { id: "2", name: "add", arguments: '{ "a": "one", "b": 2 }' },
]).result;
for (const { call, outcome } of settled) console.log(call.id, outcome);
await session.close();
