import { compat, createToolSession, defineTool, fileKey, jsonSchema, toolResult } from "toolkernel";
import { z } from "zod";

// What a host has already: some files, and a post office that loses an answer.
const files = new Map([["notes.txt", "buy apples"]]);
const sent: string[] = [];

const edit = defineTool({
  name: "edit",
  description: "Replaces a text in a file.",
  inputSchema: z.object({ path: z.string(), find: z.string(), replace: z.string().default("") }),
  executionMode: "parallel",
  conflictKey: ({ path }) => fileKey(path),
  timeoutMs: 5_000,
  throwMeans: "failed", // the throw below comes before the write
  validate: ({ find }) => (find === "" ? "find must not be empty" : undefined),
  execute: ({ path, find, replace }) => {
    const text = files.get(path);
    if (!text?.includes(find)) throw new Error("The text is not in the file.");
    files.set(path, text.replace(find, replace));
    return toolResult({ content: `edited ${path}`, details: { before: text } });
  },
});

const copiesSchema = jsonSchema<{ copies: number }>({
  type: "object",
  properties: { copies: { type: "integer", minimum: 1 } },
  required: ["copies"],
});
const backUp = defineTool({
  name: "back_up",
  description: "Copies all files.",
  inputSchema: copiesSchema,
  risk: "idempotentWrite",
  prepareArguments: compat.exactScalars(copiesSchema), // "2" becomes 2
  async *execute({ copies }) {
    for (let copy = 1; copy <= copies; copy += 1) yield `copy ${copy} of ${copies}`;
  },
});

const send = defineTool({
  name: "send",
  description: "Sends the notes.",
  inputSchema: { type: "object" },
  execute: (_args, { operationId }) => {
    sent.push(operationId);
    throw new Error("The connection broke."); // the letter is gone all the same
  },
  recover: (_args, { operationId }) =>
    sent.includes(operationId) ? toolResult({ value: "sent", terminate: true }) : undefined,
});

const session = createToolSession({ tools: [edit, backUp, send] });
const batch = session.execute([
  { id: "a", name: "edit", arguments: '{ "path": "notes.txt", "find": "apples", "replace": "plums" }' },
  { id: "b", name: "edit", arguments: '{ "path": "./notes.txt", "find": "" }' },
  { id: "c", name: "back_up", arguments: '{ "copies": "2" }' },
  { id: "d", name: "send", arguments: "{}" },
]);
for await (const event of batch) if (event.kind === "toolProgressed") console.log(event.callId, event.update);
const { settled } = await batch.result;
for (const { call, outcome, result, repairs = [] } of settled) {
  const [part] = result.content;
  const text = part?.type === "text" ? part.text : JSON.stringify(part);
  console.log(call.id, outcome, text, ...repairs.map(({ step, pointer }) => `(${step} at ${pointer})`));
}
await session.close();
