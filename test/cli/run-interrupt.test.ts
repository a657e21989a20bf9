import { describe, expect, it } from "vitest";
import { runCommand as run } from "../support/command-scene.ts";
import { calls, conversationFile, foldersLeft } from "../support/run-command-scene.ts";

describe("toolkernel run", () => {
  it("an interrupt cancels the batch, shows what is known, and ends the servers", async () => {
    const interrupt = new AbortController();
    const path = await conversationFile([
      calls(["echo", { words: "a" }], ["hang", {}], ["note", { path: "n.txt", words: "b" }]),
      calls(["echo", { words: "never" }]),
    ]);
    const { exitCode, out } = await run(["run", path], {
      interrupt,
      onOutput: (text) => {
        if (text.includes("#1 hang starts")) {
          interrupt.abort();
        }
      },
    });
    expect(exitCode).toBe(2);
    expect(out).toMatch(/#1 hang uncertain \(cancelled\)/);
    expect(out).toMatch(/#2 note cancelled/);
    expect(out).toContain("3 calls: 1 succeeded, 1 uncertain, 1 cancelled.\n");
    expect(out).toContain("Interrupted. 1 response was not played.\n");
    expect(await foldersLeft()).toEqual([]);
  });

  it("exit code 1: an interrupt before the comparison, which is then left out", async () => {
    const interrupt = new AbortController();
    const path = await conversationFile([calls(["note", { path: "n.txt", words: "b" }])]);
    const { exitCode, out } = await run(["run", path, "--compare", "promise-all"], {
      interrupt,
      onOutput: (text) => {
        if (text.includes("1 call: 1 succeeded.")) {
          interrupt.abort();
        }
      },
    });
    expect(exitCode).toBe(1);
    expect(out).not.toContain("Promise.all");
    expect(await foldersLeft()).toEqual([]);
  });

  it("exit code 1: an interrupt before anything was called", async () => {
    const interrupt = new AbortController();
    interrupt.abort();
    const { exitCode } = await run(["run", await conversationFile([calls(["echo", { words: "a" }])])], { interrupt });
    expect(exitCode).toBe(1);
  });
});
