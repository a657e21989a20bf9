import { createToolSession, defineTool, jsonSchema, ToolError } from "toolkernel";

const pay = defineTool({
  name: "pay",
  description: "Pays into an account.",
  inputSchema: jsonSchema<{ account: string; cents: number }>({
    type: "object",
    properties: { account: { type: "string" }, cents: { type: "integer" } },
    required: ["account", "cents"],
  }),
  executionMode: "parallel",
  conflictKey: ({ account }) => `account:${account}`,
  execute: ({ account, cents }) => {
    if (cents > 1_000) {
      throw new ToolError("Over the limit; nothing was paid.");
    }
    if (account === "anna") {
      throw new Error("The connection broke after the order was sent.");
    }
    return "paid";
  },
});

const session = createToolSession({ tools: [pay] });
const { settled } = await session.execute([
  { id: "a", name: "pay", arguments: { account: "anna", cents: 500 } },
  { id: "b", name: "pay", arguments: { account: "anna", cents: 700 } },
  { id: "c", name: "pay", arguments: { account: "ben", cents: 300 } },
  { id: "d", name: "pay", arguments: { account: "cleo", cents: 5_000 } },
]).result;
for (const { call, outcome } of settled) {
  console.log(call.id, outcome);
}
await session.close();
