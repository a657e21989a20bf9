import { Agent, type ContentPart, defineTool, jsonSchema } from "toolkernel";
import { scriptedModel } from "toolkernel/testing";

const write = defineTool({
  name: "write",
  description: "Writes a file.",
  inputSchema: jsonSchema<{ path: string }>({
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  }),
  execute: ({ path }) => `wrote ${path} with the key sk-1234`,
});
const call = (id: string, path: string) => ({ type: "toolCall", id, name: "write", arguments: { path } }) as const;
const model = scriptedModel([
  { content: [call("a", "notes.txt"), call("b", "/etc/hosts")], stopReason: "toolUse" },
  { content: [call("c", "more.txt")], stopReason: "toolUse" },
]);

const redact = (part: ContentPart): ContentPart =>
  part.type === "text" ? { ...part, text: part.text.replaceAll(/sk-\w+/g, "[secret]") } : part;

const agent = new Agent({
  model,
  tools: [write],
  hooks: {
    rewriteToolCall: ({ arguments: { path } }) =>
      String(path).startsWith("/") ? undefined : { arguments: { path: `/home/anna/${String(path)}` } },
    authorizeToolCall: ({ arguments: { path } }) =>
      String(path).startsWith("/home/anna/") || { block: "Only below /home/anna." },
    afterToolCall: { run: ({ result }) => ({ content: result.content.map(redact) }), timeoutMs: 1_000 },
    prepareNextTurn: ({ turn }) => ({ systemPrompt: `This is turn ${turn} of at most 2.` }),
    shouldStopAfterTurn: ({ turn }) => turn === 2,
  },
});
const { status, endedBy, messages } = await agent.run("Write some files.").result;
for (const message of messages) {
  if (message.role !== "toolResult") continue;
  const [part] = message.content;
  console.log(message.callId, message.failureCategory ?? "ok", part?.type === "text" ? part.text : "");
}
console.log(status, endedBy);
