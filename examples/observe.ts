import { createToolSession, defineTool, readJsonLines, recordJsonLines, summarize } from "toolkernel";

const file = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
const conflictKey = ({ path }: { readonly path?: unknown }) => String(path);
const read = defineTool({
  name: "read",
  description: "Reads a file.",
  inputSchema: file,
  risk: "readOnly",
  conflictKey,
  execute: ({ path }) => `the text of ${String(path)}`,
});
const edit = defineTool({
  name: "edit",
  description: "Edits a file.",
  inputSchema: file,
  conflictKey,
  execute: ({ path }) => `edited ${String(path)}`,
});

// In a real host: (line) => stream.write(line), on a file of yours.
const lines: string[] = [];
const session = createToolSession({ tools: [read, edit], telemetry: recordJsonLines((line) => lines.push(line)) });
await session.execute([
  { id: "a", name: "read", arguments: '{ "path": "secret-plans.txt" }' },
  { id: "b", name: "edit", arguments: '{ "path": "secret-plans.txt" }' },
  { id: "c", name: "edit", arguments: "{}" },
]).result;
await session.close();

const { toolCalls, outcomes, worldWrites } = session.performance();
console.log(`${toolCalls} calls: ${outcomes.succeeded} succeeded, ${outcomes.refused} refused; ${worldWrites} write`);

const events = readJsonLines(lines);
for (const event of events) {
  if (event.kind === "toolPrepared") console.log(event.callId, "is in lane", ...(event.lanes ?? []));
}
console.log("recorded arguments:", lines.join("").includes("secret-plans.txt"));
console.log("the same figures:", JSON.stringify(summarize([events])) === JSON.stringify(session.performance()));
