import type { GeminiContent } from "toolkernel/gemini";
import { callsFromGemini, toGeminiContents } from "toolkernel/gemini";
import { describeRawResponses, line } from "./wires/raw-responses.ts";

/** The only chunk of a stream that gemini-cli recorded on one line: a stream of one chunk is a whole response. */
function onlyChunk(number: number): (text: string) => unknown {
  return (text) => {
    const { response } = line(number)(text) as { readonly response: readonly unknown[] };
    return response.length === 1 ? response[0] : undefined;
  };
}

/** The response of a request that was not streamed. */
function whole(number: number): (text: string) => unknown {
  return (text) => (line(number)(text) as { readonly response: unknown }).response;
}

describeRawResponses(
  {
    name: "Gemini",
    callsFrom: callsFromGemini,
    messagesOut: toGeminiContents,
    readBackIds: (contents) =>
      (contents as readonly GeminiContent[])
        .flatMap((content) => content.parts)
        .flatMap((part) => ("functionResponse" in part ? [part.functionResponse.id] : [])),
  },
  [
    {
      file: "gemini3-tool-call.json",
      stopReason: "toolUse",
      calls: [["", "weather", { location: "San Francisco" }]],
      answerIds: [undefined],
    },
    {
      file: "gemini-topics-x3.json",
      stopReason: "toolUse",
      calls: [
        ["", "generate_topic", {}],
        ["", "generate_topic", {}],
        ["", "generate_topic", {}],
      ],
      answerIds: [undefined, undefined, undefined],
    },
    {
      file: "vertex-dice-x3-no-ids.json",
      stopReason: "toolUse",
      calls: [
        ["", "dice_roll", {}],
        ["", "dice_roll", {}],
        ["", "dice_roll", {}],
      ],
      answerIds: [undefined, undefined, undefined],
    },
    { file: "gemini-max-tokens-empty.json", stopReason: "length", calls: [] },
    { file: "gemini-safety.json", stopReason: "error", calls: [] },
    { file: "gemini-cli-waves.responses.jsonl", pick: whole(0), stopReason: "stop", calls: [] },
    { file: "gemini-cli-waves.responses.jsonl", pick: whole(2), stopReason: "stop", calls: [] },
    { file: "gemini-cli-multi-call.responses.jsonl", pick: whole(0), stopReason: "stop", calls: [] },
    { file: "gemini-cli-multi-call.responses.jsonl", pick: onlyChunk(1), stopReason: "stop", calls: [] },
    { file: "gemini-cli-multi-call.responses.jsonl", pick: onlyChunk(3), stopReason: "stop", calls: [] },
    {
      file: "gemini-cli-waves.responses.jsonl",
      pick: onlyChunk(1),
      stopReason: "toolUse",
      calls: [
        ["", "read_file", { file_path: "file1.txt" }],
        ["", "read_file", { file_path: "file2.txt" }],
        ["", "write_file", { file_path: "output.txt", content: "wave2" }],
        ["", "read_file", { file_path: "file3.txt" }],
        ["", "read_file", { file_path: "file4.txt" }],
      ],
      answerIds: [undefined, undefined, undefined, undefined, undefined],
    },
    {
      file: "gemini-cli-multi-call.responses.jsonl",
      pick: onlyChunk(2),
      stopReason: "toolUse",
      calls: [
        ["", "grep_search", { pattern: "MemoryMonitor", path: ".", include_pattern: "*.ts" }],
        ["", "list_directory", { path: "packages/core/src/telemetry" }],
        ["", "read_file", { file_path: "packages/core/src/telemetry/memory-monitor.ts" }],
      ],
      answerIds: [undefined, undefined, undefined],
    },
  ],
);
