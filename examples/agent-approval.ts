import { Agent, defineTool } from "toolkernel";
import { scriptedModel } from "toolkernel/testing";

const clear = defineTool({
  name: "clear",
  description: "Clears a room.",
  inputSchema: { type: "object", properties: { room: { type: "string" } }, required: ["room"] },
  execute: ({ room }) => `cleared the ${String(room)}`,
});
const call = (id: string, room: string) => ({ type: "toolCall", id, name: "clear", arguments: { room } }) as const;
const model = scriptedModel([
  { content: [call("a", "attic"), call("b", "cellar")], stopReason: "toolUse" },
  { content: [{ type: "text", text: "The attic is clear." }], stopReason: "stop" },
]);
const agent = new Agent({
  model,
  tools: [clear],
  hooks: { authorizeToolCall: ({ arguments: { room } }) => ({ ask: { question: `Clear the ${String(room)}?` } }) },
});

const asked = await agent.run("Make room.").result;
console.log(asked.status, asked.approvals?.map(({ ask }) => ask.question).join(" "));

// Yes to the attic; the message is the answer to everything else.
const [attic] = asked.approvals ?? [];
const done = await agent.resume(asked.runId, {
  approvals: { [attic?.approvalId ?? ""]: true },
  message: "Leave the cellar as it is.",
}).result;
for (const message of done.messages) {
  if (message.role === "toolResult") console.log(message.callId, message.isError ? "not run" : "done");
  else if (message.role === "user") console.log("user:", message.content);
}
console.log(done.status);
