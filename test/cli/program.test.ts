import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "program-"));
});

afterAll(() => rm(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** Runs the program from its sources; `onOutput` is told all output so far. */
function runProgram(args: readonly string[], onOutput?: (out: string, child: ChildProcess) => void): Promise<Ended> {
  const env = { ...process.env, TMPDIR: folder, CI: "true" };
  const child = spawn(process.execPath, ["--import", "tsx", "src/cli/main.ts", ...args], { env, stdio: "pipe" });
  let out = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
    onOutput?.(out, child);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, errors })));
}

async function fileWith(...calls: readonly object[]): Promise<string> {
  const path = join(folder, "conversation.json");
  const server = { command: "node", args: [join(process.cwd(), "test/support/stdio-server.mjs"), "{workspace}"] };
  await writeFile(path, JSON.stringify({ version: 1, servers: { small: server }, turns: [{ calls }] }));
  return path;
}

describe("the program toolkernel", () => {
  it("plays a file, writes plain lines to a pipe, and ends with the exit code", async () => {
    const path = await fileWith({ id: "1", name: "note", arguments: { path: "a", words: "b" } });
    const { code, out, errors } = await runProgram(["run", path]);
    expect([code, errors]).toEqual([0, ""]);
    expect(out).toContain("\n1 call: 1 succeeded.\n");
    expect(out).not.toContain(String.fromCharCode(27));
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "CAN-1: %s cancels the batch, shows what is known, and clears away",
    async (signal) => {
      const path = await fileWith({ id: "1", name: "hang", arguments: {} }, { id: "2", name: "fail", arguments: {} });
      let sent = false;
      const { code, out, errors } = await runProgram(["run", path], (soFar, child) => {
        if (!sent && soFar.includes("#0 hang starts")) {
          sent = true;
          child.kill(signal);
        }
      });
      expect([code, errors]).toEqual([2, ""]);
      expect(out).toContain("2 calls: 1 uncertain, 1 cancelled.\n");
      expect(out).toContain("Interrupted.\n");
      expect((await readdir(folder)).filter((name) => name.startsWith("toolkernel-"))).toEqual([]);
    },
  );

  it("says what is wrong on the error output, without a stack", async () => {
    const { code, out, errors } = await runProgram(["run", join(folder, "absent.json")]);
    expect([code, out]).toEqual([1, ""]);
    expect(errors).toBe(`toolkernel: ${join(folder, "absent.json")}: the file cannot be read (ENOENT).\n`);
  });
});
