import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Turn } from "../../src/cli/conversation-file.ts";
import { runCommand as run } from "../support/command-scene.ts";
import { calls, conversationFile, objects } from "../support/run-command-scene.ts";

const ESCAPE = String.fromCharCode(27);

describe("toolkernel run", () => {
  it("the shipped example: the kernel keeps all edits, Promise.all loses most of them", async () => {
    const { exitCode, out, errors } = await run(["run", "examples/sixteen-edits.json", "--compare", "promise-all"]);
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(out).toContain("  epoch 0: #0-#22\n");
    expect(out).toMatch(/#2-#5 #7-#11 .* wait for file:config\/gateway\.ini, taken by #1\n/);
    expect(out).toContain("23 calls: 23 succeeded.\n");
    const row = /^ *config\/gateway\.ini +16 +16 +(\d+) +differs$/m.exec(out);
    expect(Number(row?.[1])).toBeLessThan(8);
    expect(out).toMatch(/^config\/gateway\.ini: Promise\.all lost the edits of #/m);
    expect(out).toMatch(/^The kernel kept 20 of 20 edits; Promise\.all kept \d+ and lost \d+\.$/m);
    expect(out).toContain("Promise.all reported success for 23 of 23 calls.\n");
  });

  it("EPOCH-4: the last read of the example sees every edit before it", async () => {
    const { out } = await run(["run", "examples/sixteen-edits.json", "--keep", "--json"]);
    const summary = objects(out).at(-1) as { workspace: string };
    const text = await readFile(join(summary.workspace, "config/gateway.ini"), "utf8");
    await rm(summary.workspace, { recursive: true });
    expect(text).toMatch(/health_path = \/healthz\n$/);
    expect(text).not.toContain("keep_alive = off");
  });

  it("a mode and a number of slots are the kernel's", async () => {
    const path = await conversationFile([calls(["echo", { words: "a" }], ["echo", { words: "b" }])]);
    const epochs = async (...flags: string[]) =>
      objects((await run(["run", path, "--json", ...flags])).out).filter(({ kind }) => kind === "epochStarted").length;
    expect(await epochs()).toBe(1);
    expect(await epochs("--mode", "sequential")).toBe(2);
    const { out } = await run(["run", path, "--json", "--max-concurrent", "1"]);
    const order = objects(out).flatMap(({ kind }) => (kind === "toolDispatched" || kind === "toolEnded" ? [kind] : []));
    expect(order).toEqual(["toolDispatched", "toolEnded", "toolDispatched", "toolEnded"]);
  });

  it("a loop that is closed plays no further response, and says so", async () => {
    const broken: Turn = { ...calls(["echo", { words: "a" }]), stopReason: "error" };
    const { exitCode, out } = await run(["run", await conversationFile([broken, calls(["echo", { words: "b" }])])]);
    expect(exitCode).toBe(0);
    expect(out).toContain("The loop was closed (stopReason): 1 response was not played.\n");
  });

  it("on a terminal there are colours and boxes, unless NO_COLOR is set", async () => {
    const path = await conversationFile([calls(["echo", { words: "a" }])]);
    const colored = await run(["run", path], { isTerminal: true });
    expect(colored.out).toContain(ESCAPE);
    expect(colored.out).toContain("│");
    const plain = await run(["run", path], { isTerminal: true, allowsColor: false });
    expect(plain.out).not.toContain(ESCAPE);
  });
});

describe("toolkernel", () => {
  it("help and version are no errors", async () => {
    const help = await run(["--help"]);
    expect([help.exitCode, help.errors]).toEqual([0, ""]);
    expect(help.out).toContain("run [options] <file>");
    expect((await run(["run", "--help"])).out).toContain("Exit code: 0 every call settled");
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    expect(await run(["--version"])).toEqual({ exitCode: 0, out: `${version}\n`, errors: "" });
  });

  it("no command, or an unknown one, is an error that shows the help", async () => {
    const none = await run([]);
    expect([none.exitCode, none.errors]).toEqual([1, expect.stringContaining("Usage: toolkernel")]);
    expect((await run(["rnu"])).exitCode).toBe(1);
  });
});
