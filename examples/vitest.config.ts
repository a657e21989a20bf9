import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

// The examples import toolkernel by the names that hosts use, and run against its sources.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^toolkernel$/, replacement: source("index.ts") },
      { find: /^toolkernel\/testing$/, replacement: source("testing/index.ts") },
      { find: /^toolkernel\/([a-z-]+)$/, replacement: source("adapters/$1/index.ts") },
    ],
  },
  test: { include: ["**/*.test.ts"], testTimeout: 20_000 },
});
