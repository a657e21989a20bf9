/** Writes the published copy of the conversation file's schema; the source is `src/cli/conversation-schema.ts`. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { conversationSchema } from "../src/cli/conversation-schema.ts";

const path = "docs/conversation-file.schema.json";
writeFileSync(path, JSON.stringify(conversationSchema));
execFileSync("npx", ["biome", "format", "--write", path], { stdio: "inherit" });
