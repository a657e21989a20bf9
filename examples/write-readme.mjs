// Writes README.md: what each host looked like before, and the lines that changed, as git sees them.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HOSTS = [
  ["ai-sdk", "AI SDK", "The session runs the tools inside `generateText`; the loop stays the AI SDK's."],
  ["openai", "OpenAI client", "A loop over Chat Completions by hand. Responses work the same way."],
  ["anthropic", "Anthropic client", "A loop over Messages by hand."],
  ["mcp", "MCP", "Tools of MCP servers, for whatever model answers."],
  ["langchain", "LangChain", "A loop over a chat model, with LangChain's own tools."],
  ["openai-agents", "OpenAI Agents SDK", "The SDK's tools, approvals included, in an Agent of the kernel."],
  ["game", "A game", "A world and minds of the game's own: the model is ten lines."],
];

const here = fileURLToPath(new URL(".", import.meta.url));

/** The page as it should be now. */
export function page() {
  const hosts = HOSTS.map(([folder, title, about]) => {
    const lines = changes(`${folder}/before.ts`, `${folder}/after.ts`);
    return `## ${title}\n\n${about} Before: [${folder}/before.ts](${folder}/before.ts).\n\n\`\`\`diff\n${lines}\n\`\`\`\n`;
  });
  return `${INTRODUCTION}\n${hosts.join("\n")}`;
}

const INTRODUCTION = `# toolkernel in the hosts people have

Each folder holds a small host twice: as it was, and with its tool calls run by the kernel. In each the
model asks for two things at once that touch the same thing: before, one is lost; after, both happen, in
order, and calls that touch different things still overlap. \`npm ci && npm test\` here runs them all, with
the real packages and without network.

This page is written by \`npm run readme\`.
`;

function changes(before, after) {
  const args = ["diff", "--no-index", "--no-color", "--unified=2", before, after];
  const { stdout } = spawnSync("git", args, { cwd: here, encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  return lines
    .slice(lines.findIndex((line) => line.startsWith("@@")))
    .map((line) => (line.startsWith("@@") ? "@@" : line))
    .join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("README.md", import.meta.url), page());
}
