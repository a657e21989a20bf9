import { createToolSession, defineTool, memoryRunStore } from "toolkernel";

const paid: string[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays an invoice.",
  inputSchema: { type: "object", properties: { invoice: { type: "string" } }, required: ["invoice"] },
  execute: ({ invoice }) => {
    paid.push(String(invoice));
    return "paid";
  },
});

// In a real host: openSqliteRunStore or openPostgresRunStore, which outlive the process.
const runStore = memoryRunStore();
const openSession = () =>
  createToolSession({
    tools: [pay],
    runStore,
    runId: "invoices",
    hooks: { authorizeToolCall: ({ arguments: { invoice } }) => ({ ask: { question: `Pay ${String(invoice)}?` } }) },
  });

// The host keeps the model's responses as part of its own conversation.
const response = [
  { id: "a", name: "pay", arguments: '{ "invoice": "2041" }' },
  { id: "b", name: "pay", arguments: '{ "invoice": "2042" }' },
];

const monday = openSession();
const asked = await monday.execute(response, { turn: 1 }).result;
console.log(asked.approvals?.map(({ ask }) => ask.question).join(" "));
await monday.close(); // somebody answers tomorrow

const tuesday = openSession();
const [one, two] = asked.approvals ?? [];
const answers = { [one?.approvalId ?? ""]: true as const, [two?.approvalId ?? ""]: { block: "It is not due." } };
const decided = await tuesday.execute(response, { turn: 1, approvals: answers }).result;
console.log(decided.settled.map(({ call, outcome }) => `${call.id} ${outcome}`).join(", "));
await tuesday.close();

// The answer came twice, and its process had ended: the same again, and nothing happens again.
const later = openSession();
const again = await later.execute(response, { turn: 1, approvals: answers }).result;
console.log(again.settled.map(({ call, outcome }) => `${call.id} ${outcome}`).join(", "));
console.log(`paid ${paid.join(", ")}`);
await later.close();
