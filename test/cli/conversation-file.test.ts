import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { KernelError } from "toolkernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConversation } from "../../src/cli/conversation-file.ts";
import { conversationSchema } from "../../src/cli/conversation-schema.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "conversation-file-"));
});

afterAll(() => rm(folder, { recursive: true }));

const MINIMAL = { version: 1, servers: { s: { command: "node" } }, turns: [{ calls: [] }] };

async function complaint(content: unknown): Promise<string> {
  const path = join(folder, "file.json");
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  const error = await loadConversation(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KernelError)) {
    return `no complaint: ${String(error)}`;
  }
  expect(error.code).toBe("INVALID_OPTIONS");
  return error.message.replace(path, "FILE");
}

describe("a conversation file is read whole", () => {
  it("the published schema is the one that files are checked with (npx tsx scripts/write-schema.ts writes it)", async () => {
    const published: unknown = JSON.parse(await readFile("docs/conversation-file.schema.json", "utf8"));
    expect(published).toEqual(conversationSchema);
  });

  it("the shipped examples fit the schema", async () => {
    for (const path of [join("examples", "sixteen-edits.json"), join("examples", "settlement", "conversation.json")]) {
      expect(await loadConversation(path)).toMatchObject({ path, directory: resolve(dirname(path)) });
    }
  });

  it("everything a file may say is taken as it is", async () => {
    const whole = {
      $schema: "x",
      version: 1,
      title: "t",
      workspace: { files: { "a.txt": "a", "d/b.txt": ["1", "2"], "d/.c": { lines: 3, each: "{n}" }, "...": "" } },
      servers: {
        one: { package: "@scope/name", bin: "b", args: ["{workspace}"], env: { A: "b" }, trusted: true, prefix: "p" },
        two: {
          command: "node",
          only: ["t"],
          tools: {
            t: {
              risk: "readOnly",
              executionMode: "parallel",
              timeoutMs: 1,
              trackExactRepeats: false,
              throwMeans: "failed",
              conflictKey: [{ file: "source" }, { template: "{a}/{b}" }],
            },
            u: { conflictKey: { file: "path" } },
          },
        },
      },
      limits: { maxToolCallsPerTurn: 40 },
      turns: [
        { user: "u", text: "t", stopReason: "toolUse", calls: [{ id: "1", name: "t", arguments: { a: [null] } }] },
        { calls: [{ id: "", name: "t", arguments: '{"a":' }] },
      ],
    };
    const path = join(folder, "whole.json");
    await writeFile(path, JSON.stringify(whole));
    expect((await loadConversation(path)).conversation).toEqual(whole);
  });
});

describe("a bad file is refused with its name and the place in it", () => {
  it("a file that is not there", async () => {
    const path = join(folder, "absent.json");
    await expect(loadConversation(path)).rejects.toThrow(`${path}: the file cannot be read (ENOENT).`);
  });

  it("what is wrong with it, and not the byte order mark that an editor put in front", async () => {
    expect(await complaint("\ufeff[]")).toBe("FILE: the top level must be object.");
  });

  it("text that is not JSON", async () => {
    expect(await complaint('{\n  "version": 1,\n  oops\n}')).toMatch(
      /^FILE: this is not valid JSON at line 3, column 3: /,
    );
  });

  it.each([
    [[], "the top level must be object"],
    [{}, `the top level must have required property 'version'`],
    [{ ...MINIMAL, version: 2 }, "/version must be equal to constant: 1"],
    [{ ...MINIMAL, extra: 1 }, `the top level must NOT have additional properties: "extra"`],
    [{ ...MINIMAL, servers: {} }, "/servers must NOT have fewer than 1 properties"],
    [{ ...MINIMAL, servers: { s: {} } }, `/servers/s must have required property 'package'`],
    [{ ...MINIMAL, servers: { s: { package: "p", command: "c" } } }, "/servers/s/command does not belong here"],
    [{ ...MINIMAL, servers: { s: { package: "../p" } } }, "/servers/s/package must match pattern"],
    [
      { ...MINIMAL, servers: { s: { command: "c", bin: "b" } } },
      "/servers/s must have property package when property bin is present",
    ],
    [{ ...MINIMAL, turns: [] }, "/turns must NOT have fewer than 1 items"],
    [
      { ...MINIMAL, turns: [{ calls: [{ id: "1", name: "t" }] }] },
      "/turns/0/calls/0 must have required property 'arguments'",
    ],
    [
      { ...MINIMAL, turns: [{ calls: [], stopReason: "done" }] },
      `/turns/0/stopReason must be equal to one of the allowed values: ["stop",`,
    ],
    [withPolicy({ risk: "none" }), `/servers/s/tools/t/risk must be equal to one of the allowed values: ["readOnly",`],
    [
      withPolicy({ conflictKey: { path: "a" } }),
      `/servers/s/tools/t/conflictKey must NOT have additional properties: "path"`,
    ],
    [withPolicy({ conflictKey: {} }), "/servers/s/tools/t/conflictKey must NOT have fewer than 1 properties"],
    [withPolicy({ conflictKey: "path" }), "/servers/s/tools/t/conflictKey must be object,array"],
    [withPolicy({ conflictKey: [{ file: "a" }, 1] }), "/servers/s/tools/t/conflictKey/1 must be object"],
  ])("%j", async (content, words) => {
    expect(await complaint(content)).toContain(`FILE: ${words}`);
  });

  it.each(["/abs", "../up", "a/../../up", "a/..", ".", "a/./b", "a\\b", "a/", "", "a\u0000"])(
    "a workspace file at %j, which is not a path inside the folder",
    async (path) => {
      expect(await complaint({ ...MINIMAL, workspace: { files: { [path]: "x" } } })).toContain(
        `FILE: /workspace/files has the name ${JSON.stringify(path)}, which must be a relative path`,
      );
    },
  );
});

function withPolicy(policy: unknown): object {
  return { ...MINIMAL, servers: { s: { command: "node", tools: { t: policy } } } };
}
