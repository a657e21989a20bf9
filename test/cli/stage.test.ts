import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Conversation, LoadedConversation } from "../../src/cli/conversation-file.ts";
import { resolvePackageBin } from "../../src/cli/resolve-package.ts";
import { onStage } from "../../src/cli/stage.ts";
import { laidTexts } from "../../src/cli/workspace.ts";

const SMALL = { command: "node", args: ["{directory}/stdio-server.mjs", "{workspace}"] };

function loaded(parts: Partial<Conversation>): LoadedConversation {
  const conversation: Conversation = { version: 1, servers: { small: SMALL }, turns: [{ calls: [] }], ...parts };
  return { path: "some.json", directory: join(process.cwd(), "test/support"), conversation };
}

const OPTIONS = { keep: false, readsFiles: true, signal: new AbortController().signal };

describe("a stage is set up afresh and cleared away", () => {
  it("files are laid as text, as lines and as numbered lines, and read back after the play", async () => {
    const files = {
      "a.txt": "no line end",
      "b/c.txt": ["one", "two"],
      "b/d/e": { lines: 3 },
      f: { lines: 2, each: "{n}:{n}" },
    };
    const conversation = loaded({ workspace: { files } });
    const laid = new Map([
      ["a.txt", "no line end"],
      ["b/c.txt", "one\ntwo\n"],
      ["b/d/e", "line 1\nline 2\nline 3\n"],
      ["f", "1:1\n2:2\n"],
    ]);
    expect(laidTexts(conversation.conversation)).toEqual(laid);
    const staged = await onStage(conversation, OPTIONS, async ({ workspace, servers }) => {
      expect(await readFile(join(workspace, "b/c.txt"), "utf8")).toBe("one\ntwo\n");
      await writeFile(join(workspace, "new"), "made");
      await writeFile(join(workspace, "bytes"), Buffer.from([0xff, 0x00, 0xfe]));
      return servers.map(({ name }) => name);
    });
    expect(staged.result).toEqual(["small"]);
    expect(staged.texts).toEqual(new Map([...laid, ["new", "made"], ["bytes", "\u00ff\u0000\u00fe"]]));
    expect(existsSync(staged.workspace)).toBe(false);
  });

  it("the servers have ended and the folder is gone when the play throws", async () => {
    let seen = { workspace: "", pid: 0 };
    const playing = onStage(loaded({}), OPTIONS, ({ workspace, servers }) => {
      const [server] = servers;
      seen = { workspace, pid: (server?.client.transport as { pid?: number } | undefined)?.pid ?? 0 };
      return Promise.reject(new Error("the play broke"));
    });
    await expect(playing).rejects.toThrow("the play broke");
    expect(existsSync(seen.workspace)).toBe(false);
    expect(seen.pid).toBeGreaterThan(0);
    expect(() => process.kill(seen.pid, 0)).toThrow("ESRCH");
  });

  it("a folder that is to be kept stays", async () => {
    const { workspace } = await onStage(loaded({}), { ...OPTIONS, keep: true }, async () => undefined);
    expect(existsSync(workspace)).toBe(true);
    await rm(workspace, { recursive: true });
  });
});

describe("a server that does not start is an error that names it", () => {
  it.each([
    [{ command: "/no/such/program" }, /some\.json: \/servers\/broken: the server did not start: .*ENOENT/],
    [
      { command: "node", args: ["-e", "console.error('out of luck'); process.exit(1)"] },
      /broken: .*It said: out of luck/,
    ],
    [{ package: "no-such-package-anywhere" }, /broken: the package no-such-package-anywhere is not installed/],
    [{ package: "xstate" }, /broken: the package xstate has no program/],
  ])("%j", async (broken, message) => {
    const starting = onStage(loaded({ servers: { small: SMALL, broken } }), OPTIONS, async () => "played");
    await expect(starting).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      subject: "/servers/broken",
      message: expect.stringMatching(message),
    });
  });

  it("a start that is interrupted ends", async () => {
    const controller = new AbortController();
    const silent = { command: "node", args: ["-e", "setInterval(() => {}, 1000)"] };
    const starting = onStage(
      loaded({ servers: { silent } }),
      { ...OPTIONS, signal: controller.signal },
      async () => "played",
    );
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: "INVALID_OPTIONS", subject: "/servers/silent" });
  });
});

describe("programs of installed packages", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "packages-"));
    for (const [name, bin] of [
      ["@s/one", "one.js"],
      ["several", { several: "main.js", other: "./other.js" }],
      ["unclear", { a: "a.js", b: "b.js" }],
    ] as const) {
      await mkdir(join(folder, "node_modules", name), { recursive: true });
      await writeFile(join(folder, "node_modules", name, "package.json"), JSON.stringify({ name, bin, exports: {} }));
    }
  });

  afterAll(() => rm(folder, { recursive: true }));

  const script = (name: string, bin?: string) =>
    resolvePackageBin({ name, bin, from: ["/nowhere", join(folder, "deep")] });

  it("are found from any of the folders, past a package's exports", async () => {
    expect(await script("@s/one")).toBe(join(folder, "node_modules/@s/one/one.js"));
    expect(await script("several")).toBe(join(folder, "node_modules/several/main.js"));
    expect(await script("several", "other")).toBe(join(folder, "node_modules/several/other.js"));
  });

  it("are refused by name when they are not there or not clear", async () => {
    await expect(script("unclear")).rejects.toThrow(
      "the package unclear has several programs: name one with bin (a, b).",
    );
    await expect(script("unclear", "c")).rejects.toThrow("the package unclear has no program c; it has: a, b.");
    await expect(script("absent")).rejects.toThrow("the package absent is not installed");
  });
});
