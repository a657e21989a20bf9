import { Agent, defineTool } from "toolkernel";
import { scriptedModel } from "toolkernel/testing";

const count = defineTool({
  name: "count",
  description: "Counts what is in stock.",
  inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
  risk: "readOnly",
  execute: ({ item }) => (item === "apples" ? 3 : 0),
});
const order = defineTool({
  name: "order",
  description: "Orders more.",
  inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
  execute: ({ item }) => `ordered ${String(item)}`,
});

// In a real host: fromAiSdkModel(openai("…")), or your own { generate }.
const call = (id: string, name: string, item: string) => ({ type: "toolCall", id, name, arguments: { item } }) as const;
const model = scriptedModel([
  { content: [call("a", "count", "apples"), call("b", "count", "pears")], stopReason: "toolUse" },
  { content: [call("c", "order", "plums")], stopReason: "toolUse" },
  { content: [{ type: "text", text: "Plums are on their way." }], stopReason: "stop" },
  { content: [{ type: "text", text: "There are 3 apples, and no pears." }], stopReason: "stop" },
]);

const agent = new Agent({ model, tools: [count, order], systemPrompt: "Keep the shop in stock." });
const run = agent.run("What is running out?");
// As a user might, while the first response is on its way.
run.steer("Plums are running out too.");
run.followUp("And what is there?");
for await (const event of run) {
  if (event.kind === "messageEnded" && event.message.role === "user") console.log("user:", event.message.content);
  if (event.kind === "messageUpdated" && event.delta.type === "text") console.log("model:", event.delta.text);
  if (event.kind === "toolEnded") console.log(`${event.toolName} ${event.callId}: ${event.outcome}`);
}
const { status, endedBy, turns, toolCalls, messages } = await run.result;
console.log(`${status} by ${endedBy}: ${turns} turns, ${toolCalls} calls, ${messages.length} messages`);
