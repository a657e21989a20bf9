import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chartPicture, readRecording } from "toolkernel/inspect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/commands.ts";
import { CHART_NAMES } from "../../src/inspect/charts/charts.ts";
import { playBatches } from "../inspect/play-batches.ts";

const SUPPORT = join(process.cwd(), "test/support");
const SECRET = "Lz9-secret-Q4";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inspect-command-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

async function run(args: readonly string[], onOutput?: (out: string, stop: () => void) => void): Promise<Ran> {
  const interrupt = new AbortController();
  let out = "";
  let errors = "";
  const exitCode = await runCli(args, {
    stdout: {
      write: (text) => {
        out += text;
        onOutput?.(out, () => interrupt.abort());
      },
      isTerminal: false,
      allowsColor: false,
    },
    writeError: (text) => {
      errors += text;
    },
    interrupt: interrupt.signal,
  });
  return { exitCode, out, errors };
}

async function conversation(name: string): Promise<string> {
  const path = join(folder, `${name}.json`);
  const server = {
    command: "node",
    args: [`${SUPPORT}/stdio-server.mjs`, "{workspace}"],
    trusted: true,
    tools: { note: { executionMode: "parallel", conflictKey: { file: "path" } } },
  };
  const calls = [0, 1].map((index) => ({ id: `id${index}`, name: "note", arguments: { path: "a", words: SECRET } }));
  await writeFile(path, JSON.stringify({ version: 1, title: name, servers: { small: server }, turns: [{ calls }] }));
  return path;
}

describe("toolkernel run", () => {
  it("OBS-3: writes a timeline and a recording that hold no arguments", async () => {
    const [report, record] = [join(folder, "out.html"), join(folder, "out.jsonl")];
    const { exitCode, out } = await run(["run", await conversation("plain"), "--report", report, "--record", record]);
    expect(exitCode).toBe(0);
    expect(out).toContain(`${record} is written\n`);
    expect(out).toContain(`${report} is written\n`);
    const [html, lines] = await Promise.all([readFile(report, "utf8"), readFile(record, "utf8")]);
    expect(html).toContain("<h1>plain</h1>");
    expect(html.match(/<g class="tl-call tl-succeeded/g)).toHaveLength(2);
    expect(readRecording(lines).entries.some((entry) => entry.type === "transition")).toBe(true);
    expect(`${html}${lines}`).not.toContain(SECRET);
  });

  it("lets them hold arguments, results and keys when asked", async () => {
    const record = join(folder, "content.jsonl");
    await run(["run", await conversation("content"), "--record", record, "--with-content"]);
    const { entries } = readRecording(await readFile(record, "utf8"));
    const contents = entries
      .filter((entry) => entry.type === "content")
      .map(({ part, callIndex }) => [part, callIndex]);
    expect(contents).toEqual([
      ["arguments", 0],
      ["arguments", 1],
      ["result", 0],
      ["result", 1],
    ]);
  });

  it.each(["--report", "--record"])("names %s when its file cannot be written, and plays nothing", async (flag) => {
    const { exitCode, out, errors } = await run([
      "run",
      await conversation("nowhere"),
      flag,
      join(folder, "no/such/file"),
    ]);
    expect([exitCode, out]).toEqual([1, ""]);
    expect(errors).toMatch(new RegExp(`^toolkernel: ${flag} .* cannot be written; give the path`));
  });
});

describe("toolkernel graph", () => {
  it("prints the chart of a tool call as Mermaid text when nothing else is asked", async () => {
    expect((await run(["graph"])).out).toBe(chartPicture("tool-call", "mermaid"));
  });

  it.each(CHART_NAMES)("prints the %s chart in every format", async (name) => {
    for (const format of ["mermaid", "json", "svg"] as const) {
      expect(await run(["graph", name, "--format", format])).toEqual({
        exitCode: 0,
        out: chartPicture(name, format),
        errors: "",
      });
    }
  });

  it("refuses a chart and a format that there is not", async () => {
    expect((await run(["graph", "teapot"])).exitCode).toBe(1);
    expect((await run(["graph", "run", "--format", "png"])).errors).toContain("mermaid, json, svg");
  });
});

describe("toolkernel replay", () => {
  it("tells a recording line by line, the charts too when asked", async () => {
    const path = join(folder, "replay.jsonl");
    await writeFile(
      path,
      await playBatches([
        [
          { tool: "edit", keys: ["a"], ms: 20 },
          { tool: "edit", keys: ["a"], ends: "loses" },
        ],
      ]),
    );
    const { exitCode, out } = await run(["replay", path]);
    expect([exitCode, out]).toEqual([0, REPLAYED]);
    expect((await run(["replay", path, "--charts"])).out).toContain("     +20  1.1     ADMITTED  → running\n");
  });

  it("keeps control characters of others off the terminal", async () => {
    const path = join(folder, "controls.jsonl");
    await writeFile(path, (await playBatches([[{ tool: "read" }]])).replaceAll('"read"', '"\\u001b[2Jread"'));
    expect((await run(["replay", path])).out).toContain("#0  [2Jread");
  });

  it.each(["replay", "inspect"])("%s names a file that is not there, and one that is no recording", async (command) => {
    const missing = await run([command, join(folder, "missing.jsonl")]);
    expect([missing.exitCode, missing.errors]).toEqual([1, expect.stringContaining("missing.jsonl cannot be read")]);
    const path = join(folder, "other.jsonl");
    await writeFile(path, "hello\n");
    const other = await run([command, path]);
    expect([other.exitCode, other.errors]).toEqual([
      1,
      `toolkernel: ${path} is not a recording: Line 1 of the recording does not begin a recording of format toolkernel.trace. Give what --record or recordRun wrote.\n`,
    ]);
  });

  it("says that an empty file is none, and that a recording has nothing in it yet", async () => {
    const path = join(folder, "empty.jsonl");
    await writeFile(path, "");
    for (const args of [
      ["replay", path],
      ["inspect", path, "--out", join(folder, "empty.html")],
    ]) {
      const empty = await run(args);
      expect([empty.exitCode, empty.out, empty.errors]).toEqual([
        1,
        "",
        expect.stringContaining(`${path} is not a recording: it is empty.`),
      ]);
    }
    await writeFile(path, (await playBatches([[{ tool: "read" }]])).split("\n").slice(0, 1).join(""));
    expect(await run(["replay", path])).toEqual({ exitCode: 0, out: "Nothing is recorded yet.\n", errors: "" });
  });

  it("names the page that cannot be written", async () => {
    const [path, out] = [join(folder, "unwritten.jsonl"), join(folder, "nowhere", "page.html")];
    await writeFile(path, await playBatches([[{ tool: "read" }]]));
    expect(await run(["inspect", path, "--out", out])).toMatchObject({
      exitCode: 1,
      errors: `toolkernel: --out ${out} cannot be written; give the path of a file in a folder that exists.\n`,
    });
  });
});

describe("toolkernel inspect", () => {
  it("writes the page as one file when asked", async () => {
    const [path, page] = [join(folder, "written.jsonl"), join(folder, "page.html")];
    await writeFile(path, await playBatches([[{ tool: "read" }]]));
    const { exitCode, out } = await run(["inspect", path, "--out", page]);
    expect([exitCode, out]).toEqual([0, `${page} is written\n`]);
    const html = await readFile(page, "utf8");
    expect(html).toContain('"state":"finishing.succeeded"');
    // A page is handed on: it is named by its file, and tells nothing of this machine.
    expect(html).toContain("<h1>written.jsonl</h1>");
    expect(html).not.toContain(folder);
  });

  it("serves the page on this machine until it is interrupted, and follows the file while it grows", async () => {
    const path = join(folder, "growing.jsonl");
    const text = await playBatches([[{ tool: "read" }, { tool: "edit" }]]);
    const cut = text.indexOf("\n", text.length / 2) - 9;
    await writeFile(path, text.slice(0, cut));
    let told = "";
    const { exitCode, out } = await run(["inspect", path], (shown, stop) => {
      const url = /http:\S+/.exec(shown)?.[0] ?? "";
      void follow(`${url}feed`, async (stream) => {
        if (told === "") await appendFile(path, text.slice(cut));
        told = stream;
        if (told.match(/"kind":"epochSettled"/g)?.length === 1) stop();
      });
    });
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/^The inspector is at http:\/\/127\.0\.0\.1:\d+\//)]);
    expect(told.match(/"toolEnded"/g)).toHaveLength(2);
  });
});

async function follow(url: string, onMore: (stream: string) => Promise<void>): Promise<void> {
  const decoder = new TextDecoder();
  let stream = "";
  const { body } = await fetch(url);
  for await (const piece of body ?? []) {
    stream += decoder.decode(piece, { stream: true });
    await onMore(stream);
  }
}

const REPLAYED = `run demo
      +0  1.0     toolStarted  #0 edit
      +0  1.0     toolPrepared  #0 edit lane 0
      +0  1.1     toolStarted  #1 edit
      +0  1.1     toolPrepared  #1 edit lane 0
      +0  1 e0    epochStarted  epoch 0, 2 calls
      +0  1.0     toolDispatched  #0 edit
     +20  1.0     toolEnded  #0 edit succeeded in 20 ms
     +20  1.1     toolDispatched  #1 edit after 20 ms for its keys
     +30  1.1     toolEnded  #1 edit uncertain (internal) in 10 ms
     +30  1 e0    epochSettled  epoch 0
`;
