import {
  Agent,
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  type JsonObject,
  jsonSchema,
  memoryJournal,
} from "toolkernel";
import { scriptedModel } from "toolkernel/testing";

// The bank: it knows payments by their idempotency key, and its first answer is lost.
const paid = new Map<string, { readonly reference: string }>();
const pay = async (key: string) => {
  const payment = { reference: `P-${paid.size + 1}` };
  paid.set(key, payment);
  if (paid.size === 1) throw new Error("The connection broke.");
  return payment;
};

type Actions = { pay: { arguments: { invoice: string; cents: number }; result: { reference: string } } };
const dispatcher = new GameActionDispatcher<Actions>({
  journal: memoryJournal(), // in a real host: openSqliteJournal or openPostgresJournal
  handler: {
    execute: async (intent) => GameActionReceipt.committed(intent, await pay(intent.operationId)),
    recover: (intent) => {
      const payment = paid.get(intent.operationId);
      return payment && GameActionReceipt.committed(intent, payment);
    },
  },
});

/** A user's message as the host has stored it before it answers. */
interface StoredMessage {
  readonly conversation: string;
  readonly user: string;
  readonly id: string;
  readonly number: number;
  readonly text: string;
}

const payFor = (message: StoredMessage) =>
  GameActionTool.create({
    input: {
      sessionId: message.conversation,
      actorId: message.user,
      inputId: message.id,
      moment: { timelineId: "production", tick: message.number },
    },
    name: "pay",
    description: "Pays an invoice.",
    inputSchema: jsonSchema<Actions["pay"]["arguments"]>({
      type: "object",
      properties: { invoice: { type: "string" }, cents: { type: "integer", minimum: 1 } },
      required: ["invoice", "cents"],
    }),
    dispatcher,
    executionMode: "parallel",
    conflictKey: ({ invoice }) => `invoice:${invoice}`,
  });

async function answer(message: StoredMessage) {
  const call = (id: string, invoice: string) =>
    ({ type: "toolCall", id, name: "pay", arguments: { invoice, cents: 1_000 } }) as const;
  const model = scriptedModel([
    { content: [call("a", "2041"), call("b", "2042")], stopReason: "toolUse" },
    { content: [{ type: "text", text: "Both are paid." }], stopReason: "stop" },
  ]);
  const { messages } = await new Agent({ model, tools: [payFor(message)] }).run(message.text).result;
  for (const said of messages) {
    if (said.role !== "toolResult") continue;
    const { status, dispatch, result } = said.details as JsonObject; // the canonical receipt
    console.log(status, dispatch, JSON.stringify(result));
  }
}

const text = "Pay invoices 2041 and 2042.";
const message = { conversation: "c-42", user: "anna", id: "m-7", number: 7, text };
await answer(message);
// The host crashed before it had stored the answer, and answers the message again: nothing is paid twice.
await answer(message);
console.log(`${paid.size} payments`);
