import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AssistantMessage, KernelError } from "toolkernel";
import { recordedModel } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, endOf, linesOf, openAgentBench, say } from "../support/agent-bench.ts";
import {
  ANTHROPIC,
  CHAT,
  fileOf,
  folder,
  GEMINI,
  RESPONSES,
  request,
  responsesOf,
} from "../support/recorded-model-scene.ts";
import { eventsOf } from "../support/run-calls.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

describe("a recording", () => {
  const first = JSON.stringify(ask("read"));
  const second = JSON.stringify(say("done"));
  it.each([
    ["a JSON array", `[${first}, ${second}]`],
    ["JSON Lines", `${first}\n${second}`],
    ["JSON Lines with blank lines and the line ends of Windows", `\r\n${first}\r\n\r\n${second}\r\n`],
    ["a file with a byte order mark", `\uFEFF[${first}, ${second}]`],
  ])("may be %s, of several wires", async (_what, content) => {
    expect(await responsesOf(content, 2)).toEqual([ask("read"), say("done")]);
  });

  it("may mix wires, and be named by a URL", async () => {
    const path = fileOf([CHAT, ANTHROPIC, GEMINI, RESPONSES].map((each) => JSON.stringify(each)).join("\n"));
    const model = recordedModel(pathToFileURL(path));
    const names: number[] = [];
    const context = { signal: new AbortController().signal, emit: () => undefined };
    for (let asked = 0; asked < 4; asked++) names.push((await model.generate(request, context)).content.length);
    expect(names).toEqual([4, 6, 5, 5]);
  });

  it("is played by an Agent, streamed a part at a time; a request past its end fails by the file's name", async () => {
    const path = fileOf(JSON.stringify([CHAT, say("done")]));
    const bench = openAgentBench({ model: recordedModel(path) });
    const played = await bench.play();
    expect([endOf(played), linesOf(played.result.messages)]).toEqual([
      "completed by noCalls",
      ["user go", "assistant First a., Reading., read#c1, read#c2", "result c1 ok", "result c2 ok", "assistant done"],
    ]);
    expect(eventsOf(played.events, "messageUpdated").map(({ delta }) => delta)).toEqual([
      { type: "reasoning", text: "First a." },
      { type: "text", text: "Reading." },
      { type: "text", text: "done" },
    ]);
    expect(findTranscriptFaults(played.result.messages)).toEqual([]);
    const past = await bench.play("again", { runId: "again" });
    expect(past.result.error?.message).toBe(`The recording ${path} has 2 responses; request 3 has none.`);
  });

  it("gives calls that the kernel then refuses by their own faults", async () => {
    const recorded = { ...ANTHROPIC, content: [{ type: "tool_use", id: "c1", name: "read", input: [1] }] };
    const bench = openAgentBench({ model: recordedModel(fileOf(JSON.stringify([recorded, say()]))) });
    const { result } = await bench.play();
    expect(linesOf(result.messages)[2]).toBe("error c1 invalid_arguments");
    expect((result.messages[1] as AssistantMessage).content).toEqual([callPart("read", "c1", "[1]")]);
  });

  const wire =
    "is neither a whole response of a known wire (Chat Completions, OpenAI Responses, Anthropic Messages, Gemini) nor a ModelResponse";
  it.each<readonly [string, string, string]>([
    ["is empty", "", "holds no response"],
    ["is blank", " \n ", "holds no response"],
    ["is an empty list", "[]", "holds no response"],
    ["is not JSON", "hunter2", "line 1 is not JSON, and neither is the file as a whole"],
    [
      "is broken in a line",
      `${first}\n{"secret": hunter2}\n`,
      "line 2 is not JSON, and neither is the file as a whole",
    ],
    ["is a list that is cut off", `[${first},`, "line 1 is not JSON, and neither is the file as a whole"],
    ["is a number", "5", `response 1 ${wire}`],
    ["is null", "null", `response 1 ${wire}`],
    ["holds a null", `[${first}, null]`, `response 2 ${wire}`],
    ["holds a list", `[[${first}]]`, `response 1 ${wire}`],
    ["holds an error of a provider", `${first}\n{"error": {"message": "hunter2"}}`, `line 2 ${wire}`],
    ["holds a chunk of a stream", '{"choices": [{"delta": {"content": "hunter2"}}]}', `response 1 ${wire}`],
    [
      "holds an event of a stream",
      '{"type": "message_start", "message": {}}\n{"type": "message_stop"}',
      `line 1 ${wire}`,
    ],
    ["is of another wire", '{"output": {"message": {"role": "assistant", "content": []}}}', `response 1 ${wire}`],
  ])("that %s is refused with file and place, and without its content", (_what, content, fault) => {
    const path = fileOf(content);
    let thrown: unknown;
    try {
      recordedModel(path);
    } catch (error) {
      thrown = error;
    }
    const isPlace = /^(?:line|response) /.test(fault);
    expect(thrown).toBeInstanceOf(KernelError);
    expect(thrown).toMatchObject({
      code: "INVALID_OPTIONS",
      subject: "file",
      message: `The recording ${path}${isPlace ? "," : ""} ${fault}.`,
    });
    expect(String(thrown)).not.toContain("hunter2");
  });

  it("that is not there is refused by its name", () => {
    const path = join(folder, "nowhere.json");
    expect(() => recordedModel(path)).toThrow(`The recording ${path} cannot be read.`);
    expect(() => recordedModel(folder)).toThrow("cannot be read");
  });
});
