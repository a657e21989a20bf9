import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand as run } from "../support/command-scene.ts";
import { calls, conversationFile, objects } from "../support/run-command-scene.ts";

describe("toolkernel run --json", () => {
  it("OBS-3: every line is an object, the last one the summary, and no argument or result is in any", async () => {
    const path = await conversationFile(
      [calls(["note", { path: "n.txt", words: "given-secret" }], ["echo", { words: "echoed-secret" }], ["fail", {}])],
      { title: "t", workspace: { files: { "n.txt": "laid-secret\n" } } },
    );
    const { exitCode, out, errors } = await run(["run", path, "--json", "--compare", "promise-all"]);
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(out).not.toMatch(/secret|no such thing/);
    const lines = objects(out);
    expect(lines.filter(({ kind }) => kind === "toolEnded")).toHaveLength(3);
    expect(lines.at(-1)).toEqual({
      kind: "summary",
      title: "t",
      exitCode: 0,
      uncertain: 0,
      interrupted: false,
      unplayedTurns: 0,
      calls: [
        expect.objectContaining({
          turn: 1,
          callIndex: 0,
          callId: "id0",
          toolName: "note",
          epoch: 0,
          outcome: "succeeded",
        }),
        expect.objectContaining({ callIndex: 1, toolName: "echo", conflictKeys: [], outcome: "succeeded" }),
        expect.objectContaining({ callIndex: 2, toolName: "fail", outcome: "failed", failureCategory: "unspecified" }),
      ],
      compared: {
        with: "promise-all",
        calls: 3,
        succeeded: 2,
        files: [{ path: "n.txt", asked: 1, keptByKernel: 1, keptByPromiseAll: 1, lostByPromiseAll: [], same: true }],
      },
    });
  });

  it("a kept folder is named, holds the files, and only then stays", async () => {
    const path = await conversationFile([calls(["note", { path: "n.txt", words: "b" }])]);
    const { out } = await run(["run", path, "--json", "--keep"]);
    const { workspace } = objects(out).at(-1) as { workspace: string };
    expect(await readFile(join(workspace, "n.txt"), "utf8")).toBe("b\n");
    await rm(workspace, { recursive: true });
    const gone = objects((await run(["run", path, "--json"])).out).at(-1) as { workspace?: string };
    expect(gone.workspace).toBeUndefined();
    expect(existsSync(workspace)).toBe(false);
  });
});
