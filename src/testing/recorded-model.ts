import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KernelError, type ModelProvider, type ModelResponse } from "toolkernel";
import { readGiven } from "../domain/check-options.ts";
import { readRecordedResponse } from "./recorded-response.ts";
import { scriptedModel } from "./scripted-model.ts";

/** One value of a recording, with the words for its place. */
interface RecordedValue {
  readonly place: string;
  readonly value: unknown;
}

/**
 * A model that gives the responses recorded in a file, one per request, in order. Text and reasoning are
 * also streamed, a part at a time. A request past the end of the recording fails, which ends a run as
 * `providerError`.
 *
 * **shape**: the file is a JSON array of responses, JSON Lines with one response a line, or a single
 * response. Each is a whole response of Chat Completions, OpenAI Responses, Anthropic Messages or Gemini,
 * known by its shape, or a `ModelResponse`. A stream has to be joined by the provider's SDK first.
 *
 * @throws KernelError `INVALID_OPTIONS`, with file and place, when the file cannot be read, is not JSON, holds
 * no response, or something that is none of these.
 */
export function recordedModel(file: string | URL): ModelProvider {
  const name = typeof file === "string" ? file : readGiven("file", () => fileURLToPath(file));
  const responses = readValues(readText(name), name).map(({ place, value }) =>
    readResponse(value, `${name}, ${place}`),
  );
  const script = scriptedModel(responses);
  let requests = 0;
  return {
    async generate(request, context) {
      requests += 1;
      if (requests > responses.length)
        throw new Error(`The recording ${name} has ${responses.length} responses; request ${requests} has none.`);
      return script.generate(request, context);
    },
  };
}

function readText(name: string): string {
  try {
    return readFileSync(name, "utf8").replace(/^\uFEFF/, "");
  } catch (cause) {
    throw badRecording(`${name} cannot be read`, cause);
  }
}

function readValues(text: string, name: string): readonly RecordedValue[] {
  const whole = parse(text);
  if (whole === undefined) return readLines(text, name);
  if (!Array.isArray(whole.value)) return [{ place: "response 1", value: whole.value }];
  if (whole.value.length === 0) throw badRecording(`${name} holds no response`);
  return whole.value.map((value: unknown, index) => ({ place: `response ${index + 1}`, value }));
}

function readLines(text: string, name: string): readonly RecordedValue[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), place: `line ${index + 1}` }));
  const filled = lines.filter(({ line }) => line !== "");
  if (filled.length === 0) throw badRecording(`${name} holds no response`);
  return filled.map(({ line, place }) => {
    const read = parse(line);
    // What stands there is not shown: a recording may hold anything.
    if (read === undefined) throw badRecording(`${name}, ${place} is not JSON, and neither is the file as a whole`);
    return { place, value: read.value };
  });
}

function readResponse(value: unknown, place: string): ModelResponse {
  const response = readRecordedResponse(value);
  if (response !== undefined) return response;
  const known = "Chat Completions, OpenAI Responses, Anthropic Messages, Gemini";
  throw badRecording(`${place} is neither a whole response of a known wire (${known}) nor a ModelResponse`);
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function badRecording(fault: string, cause?: unknown): KernelError {
  return new KernelError("INVALID_OPTIONS", `The recording ${fault}.`, { subject: "file", cause });
}
