// Compiles the bench and the kernel's sources as they are now, and runs one of its programs in production mode.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const [program = "run", ...options] = process.argv.slice(2);

if (program === "run" && !existsSync(`${here}node_modules`)) install();
await compile();
// The gate holds the kernel and not the engine: nothing that a round allocates has to be collected during it.
const room = ["--max-semi-space-size=128", "--min-semi-space-size=128"];
const flags = program === "gate" ? ["--expose-gc", ...room] : ["--expose-gc"];
const { status } = spawnSync(process.execPath, [...flags, `${here}dist/${program}.js`, ...options], {
  stdio: "inherit",
  env: { ...process.env, NODE_ENV: "production" },
});
process.exitCode = status ?? 1;

function install() {
  const { status: code } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: here, stdio: ["ignore", 2, 2] });
  if (code !== 0) process.exit(code ?? 1);
}

/** Packages stay outside: they run as they were published, xstate in its production build. */
async function compile() {
  await rm(`${here}dist`, { recursive: true, force: true });
  await build({
    absWorkingDir: here,
    entryPoints: { run: "run.ts", gate: "gate.ts", worker: "measure/worker.ts" },
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    alias: {
      "toolkernel/machines": "../machines/index.ts",
      "toolkernel/testing": "../src/testing/index.ts",
      "toolkernel/sqlite": "../src/journal/sqlite/index.ts",
      toolkernel: "../src/index.ts",
    },
    tsconfigRaw: {},
    logLevel: "warning",
  });
}
