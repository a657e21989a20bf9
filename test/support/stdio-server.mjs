// A small MCP server over stdio for tests of the command line. Its tools: `echo` answers, `note` adds a
// line to notes.txt, `fail` answers an error, `die` ends the process in the middle of its work, `hang`
// never answers but says that it has begun, by the file hanging.txt.
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const folder = process.argv[2] ?? process.cwd();
const server = new McpServer({ name: "small", version: "1.0.0" });
const text = (words) => ({ content: [{ type: "text", text: words }] });

server.registerTool("echo", { inputSchema: { words: z.string() }, annotations: { readOnlyHint: true } }, ({ words }) =>
  text(words),
);
server.registerTool("note", { inputSchema: { path: z.string(), words: z.string() } }, async ({ path, words }) => {
  await appendFile(join(folder, path), `${words}\n`);
  return text("noted");
});
server.registerTool("fail", { inputSchema: {} }, () => ({ ...text("no such thing"), isError: true }));
server.registerTool("die", { inputSchema: { path: z.string() } }, async ({ path }) => {
  await appendFile(join(folder, path), "last words\n");
  process.exit(3);
});
server.registerTool("hang", { inputSchema: {} }, async () => {
  await writeFile(join(folder, "hanging.txt"), "");
  return new Promise(() => undefined);
});

process.stderr.write("the small server is up\n");
await server.connect(new StdioServerTransport());
