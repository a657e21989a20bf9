import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/commands.ts";
import type { Conversation, Turn } from "../../src/cli/conversation-file.ts";

const ESCAPE = String.fromCharCode(27);
const SUPPORT = join(process.cwd(), "test/support");

let folder = "";
let files = 0;
const { TMPDIR } = process.env;

// A temporary folder of its own, so that what a run leaves there is seen and nobody else's.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "run-command-"));
  process.env.TMPDIR = folder;
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  if (TMPDIR === undefined) {
    delete process.env.TMPDIR;
  } else {
    process.env.TMPDIR = TMPDIR;
  }
});

interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

interface Settings {
  readonly isTerminal?: boolean;
  readonly allowsColor?: boolean;
  readonly interrupt?: AbortController;
  onOutput?(text: string): void;
}

async function run(args: readonly string[], settings: Settings = {}): Promise<Ran> {
  let out = "";
  let errors = "";
  const exitCode = await runCli(args, {
    stdout: {
      write: (text) => {
        out += text;
        settings.onOutput?.(out);
      },
      isTerminal: settings.isTerminal ?? false,
      allowsColor: settings.allowsColor ?? true,
    },
    writeError: (text) => {
      errors += text;
    },
    interrupt: (settings.interrupt ?? new AbortController()).signal,
  });
  return { exitCode, out, errors };
}

const KEYED = { executionMode: "parallel", conflictKey: { file: "path" } } as const;
const SMALL = {
  command: "node",
  args: [`${SUPPORT}/stdio-server.mjs`, "{workspace}"],
  trusted: true,
  tools: { note: KEYED, die: KEYED },
};

async function conversationFile(turns: readonly Turn[], parts: Partial<Conversation> = {}): Promise<string> {
  files += 1;
  const path = join(folder, `conversation-${files}.json`);
  await writeFile(path, JSON.stringify({ version: 1, servers: { small: SMALL }, turns, ...parts }));
  return path;
}

function calls(...list: readonly (readonly [name: string, args: object])[]): Turn {
  return {
    calls: list.map(([name, args], index) => ({ id: `id${index}`, name, arguments: args as Record<string, string> })),
  };
}

function objects(out: string): Record<string, unknown>[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function foldersLeft(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("toolkernel-"));
}

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
    expect(out).toContain("Promise.all was told of success for 23 of 23 calls.\n");
  });

  it("EPOCH-4: the last read of the example sees every edit before it", async () => {
    const { out } = await run(["run", "examples/sixteen-edits.json", "--keep", "--json"]);
    const summary = objects(out).at(-1) as { workspace: string };
    const text = await readFile(join(summary.workspace, "config/gateway.ini"), "utf8");
    await rm(summary.workspace, { recursive: true });
    expect(text).toMatch(/health_path = \/healthz\n$/);
    expect(text).not.toContain("keep_alive = off");
  });

  it("exit code 0: every call has settled, also those that failed or were refused", async () => {
    const path = await conversationFile([
      {
        ...calls(["echo", { words: "a" }], ["fail", {}], ["echo", { words: 1 }], ["absent", {}]),
        user: "Hello.",
        text: "I echo.",
      },
      calls(["note", { path: "n.txt", words: "b" }]),
    ]);
    const { exitCode, out, errors } = await run(["run", path]);
    expect([exitCode, errors]).toEqual([0, ""]);
    expect(out).toContain("response 1: 4 calls\n  user: Hello.\n  model: I echo.\n");
    expect(out).toMatch(/#2 echo refused \(invalidArguments\): /);
    expect(out).toMatch(/#1 fail failed .*: no such thing\n/);
    expect(out).toContain("5 calls: 2 succeeded, 1 failed, 2 refused.\n");
    expect(out).not.toContain(ESCAPE);
  });

  it("exit code 2: a write that nobody knows the outcome of, and what it blocks", async () => {
    const path = await conversationFile([
      calls(
        // An unmarked write is a barrier, so it is over before the server goes down.
        ["fail", {}],
        ["die", { path: "n.txt" }],
        ["note", { path: "n.txt", words: "b" }],
        ["fail", {}],
      ),
    ]);
    const { exitCode, out } = await run(["run", path]);
    expect(exitCode).toBe(2);
    expect(out).toMatch(/#1 die uncertain \(internal\)/);
    expect(out).toContain("#2 note blocked: nobody knows what became of #1\n");
    expect(out).toContain("#3 fail blocked: nobody knows what became of #1\n");
    expect(out).toContain("4 calls: 1 failed, 1 uncertain, 2 blocked.\n");
    expect(out).toContain("Nobody knows what became of 1 call: look before you repeat.\n");
  });

  it.each([
    [
      "a file that is not there",
      ["run", "absent.json"],
      "toolkernel: absent.json: the file cannot be read (ENOENT).\n",
    ],
    ["an unknown option", ["run", "x.json", "--moed", "x"], "unknown option '--moed'"],
    ["an unknown mode", ["run", "x.json", "--mode", "fast"], "Allowed choices are safeParallel, sequential, parallel."],
    ["no number", ["run", "x.json", "--max-concurrent", "0"], "It must be a whole number from 1."],
    ["an unknown comparison", ["run", "x.json", "--compare", "p"], "Allowed choices are promise-all."],
  ])("exit code 1: %s, without a stack", async (_what, args, message) => {
    const { exitCode, out, errors } = await run(args);
    expect([exitCode, out]).toEqual([1, ""]);
    expect(errors).toContain(message);
    expect(errors).not.toMatch(/^ +at /m);
  });

  it.each<[string, Partial<Conversation>, RegExp]>([
    [
      "a policy for a tool that is not there",
      { servers: { small: { ...SMALL, tools: { nope: {} } } } },
      /no tool named "nope"/,
    ],
    ["an unknown limit", { limits: { maxFun: 1 } }, /maxFun/],
    ["two servers with equal names", { servers: { a: SMALL, b: SMALL } }, /echo/],
  ])("exit code 1: %s", async (_what, parts, message) => {
    const { exitCode, errors } = await run(["run", await conversationFile([calls()], parts)]);
    expect(exitCode).toBe(1);
    expect(errors).toMatch(message);
    expect(await foldersLeft()).toEqual([]);
  });

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
