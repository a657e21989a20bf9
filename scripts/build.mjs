// Builds what the package ships: modules with their declarations for hosts, and the command line as one file.
import { spawnSync } from "node:child_process";
import { chmod, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = "dist/bin/toolkernel.js";

await rm(new URL("../dist", import.meta.url), { recursive: true, force: true });
compileModules();
await bundleCommandLine();

function compileModules() {
  const tsc = "node_modules/typescript/bin/tsc";
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

/**
 * What a person alone needs (commands, colours, tables) goes into the file; the kernel itself and what a
 * host may have to choose stays outside, so that the program runs the very modules that hosts import.
 */
async function bundleCommandLine() {
  await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
    outfile: cli,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["toolkernel", "toolkernel/*", "xstate", "ajv", "rxjs", "@modelcontextprotocol/sdk"],
    // Paths of tsconfig.json would put the kernel's sources into the file.
    tsconfigRaw: {},
    banner: {
      // Bundled CommonJS packages ask for Node's modules through require.
      js: 'import { createRequire as createBundleRequire } from "node:module";\nconst require = createBundleRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  await chmod(new URL(`../${cli}`, import.meta.url), 0o755);
}
