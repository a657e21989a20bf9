// What `npm start` plays: first sixteen edits of one file beside `Promise.all`, then a settlement whose process
// is killed in the middle of a write, and which goes on where it was left.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../dist/bin/toolkernel.js", import.meta.url));
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const toolkernel = (...args) => spawnSync(process.execPath, [program, ...args], { stdio: "inherit" });

/** Ends with the exit code of a play that was to end well. */
function expectWell({ status, signal }) {
  if (status !== 0) process.exit(status ?? (signal === null ? 1 : 128));
}

expectWell(toolkernel("run", here("sixteen-edits.json"), "--compare", "promise-all"));

const folder = mkdtempSync(join(tmpdir(), "settlement-"));
try {
  const settlement = ["run", here("settlement/conversation.json"), "--journal", join(folder, "journal.db")];
  console.log("\n");
  const first = toolkernel(...settlement);
  if (first.signal !== "SIGKILL") throw new Error("the first play was to be killed in the middle of a write");
  console.log("\nThe process was killed right after the world had changed. The same command again:\n");
  expectWell(toolkernel(...settlement));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
