import { createToolSession, defineTool } from "toolkernel";

const list = defineTool({
  name: "list",
  description: "Lists the rooms.",
  inputSchema: { type: "object" },
  risk: "readOnly",
  execute: () => ["attic", "cellar"],
});
const clear = defineTool({
  name: "clear",
  description: "Clears a room.",
  inputSchema: { type: "object", properties: { room: { type: "string" } }, required: ["room"] },
  execute: ({ room }) => `cleared the ${String(room)}`,
});

const session = createToolSession({
  tools: [list, clear],
  hooks: {
    authorizeToolCall: ({ tool, arguments: { room } }) =>
      tool.name === "clear" ? { ask: { question: `Clear the ${String(room)}?` } } : undefined,
  },
});
const calls = [
  { id: "a", name: "list", arguments: "{}" },
  { id: "b", name: "clear", arguments: '{ "room": "attic" }' },
  { id: "c", name: "clear", arguments: '{ "room": "cellar" }' },
];

const asked = await session.execute(calls, { turn: 1 }).result;
for (const { callId, ask } of asked.approvals ?? []) {
  console.log(callId, ask.question, `(settled so far: ${asked.settled.length})`);
}

const [attic, cellar] = asked.approvals ?? [];
const answers = { [attic?.approvalId ?? ""]: true as const, [cellar?.approvalId ?? ""]: { block: "Not the cellar." } };
const decided = await session.execute(calls, { turn: 1, approvals: answers }).result;
for (const { call, outcome } of decided.settled) {
  console.log(call.id, outcome);
}
await session.close();
