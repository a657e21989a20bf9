import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

// The manifest's exports are the one list of entries: "./mcp" -> dist/src/adapters/mcp/index.js is the
// built form of src/adapters/mcp/index.ts, so tests reach the sources by the names that hosts use.
function sourceAliases(): { find: RegExp; replacement: string }[] {
  const manifest = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8")) as Manifest;
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    if (typeof target === "string") {
      return [];
    }
    const source = target.default.replace(/^\.\/dist\//, "./").replace(/\.js$/, ".ts");
    const find = new RegExp(`^${manifest.name}${entry.slice(1)}$`);
    return [{ find, replacement: fileURLToPath(new URL(source, import.meta.url)) }];
  });
}

/** With `TOOLKERNEL_INTERPRETER=xstate` every test that names no interpreter runs on actors of XState's own. */
function interpreterAliases(): { find: RegExp; replacement: string }[] {
  if (process.env.TOOLKERNEL_INTERPRETER !== "xstate") return [];
  const replacement = fileURLToPath(new URL("./test/support/xstate-interpreter.ts", import.meta.url));
  return [{ find: /^.*\/default-interpreter\.ts$/, replacement }];
}

export default defineConfig({
  resolve: { alias: [...sourceAliases(), ...interpreterAliases()] },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/postgres-server.ts"],
    setupFiles: ["test/support/leak-check.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
