import { describe, expect, it } from "vitest";
import type { Conversation } from "../../src/cli/conversation-file.ts";
import { runCommand as run } from "../support/command-scene.ts";
import { calls, conversationFile, foldersLeft, SMALL } from "../support/run-command-scene.ts";

const ESCAPE = String.fromCharCode(27);

describe("toolkernel run", () => {
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
    ["no number", ["run", "x.json", "--max-concurrent", "0"], "It must be a whole number of at least 1."],
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
});
