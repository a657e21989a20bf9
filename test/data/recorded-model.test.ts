import { existsSync, readFileSync } from "node:fs";
import { type DraftResponse, defineTool, type ModelResponse } from "toolkernel";
import { callsFromAnthropic } from "toolkernel/anthropic";
import { callsFromGemini } from "toolkernel/gemini";
import { callsFromChat, callsFromResponses } from "toolkernel/openai";
import { recordedModel } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { openAgentBench, say } from "../support/agent-bench.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";

const FOLDER = new URL("../../../shared/data/tool-calls/", import.meta.url);
const INDEX = new URL("raw/index.jsonl", FOLDER);

interface RawEntry {
  readonly file: string;
  readonly api: string;
  readonly stream: boolean;
}

const READERS: Readonly<Record<string, (response: never) => DraftResponse>> = {
  "openai-chat": callsFromChat,
  "openai-responses": callsFromResponses,
  "anthropic-messages": callsFromAnthropic,
  gemini: callsFromGemini,
};

const entries: readonly RawEntry[] = existsSync(INDEX)
  ? readFileSync(INDEX, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as RawEntry)
      .filter(({ stream }) => !stream)
  : [];
const covered = entries.filter(({ api }) => Object.hasOwn(READERS, api));
const others = entries.filter(({ api }) => !Object.hasOwn(READERS, api));

/** The one response of a file, read at any depth: its texts are what somebody could read in it. */
async function readRecorded(file: string): Promise<ModelResponse> {
  const model = recordedModel(new URL(file, FOLDER));
  const request = { systemPrompt: undefined, messages: [], tools: [], turn: 1 };
  return model.generate(request, { signal: new AbortController().signal, emit: () => undefined });
}

describe.skipIf(!existsSync(INDEX))("recorded whole responses, as a recorded model (needs ../shared)", () => {
  it("are those of every wire", () => {
    expect(new Set(covered.map(({ api }) => api))).toEqual(new Set(Object.keys(READERS)));
    expect([covered.length, others.length]).toEqual([23, 3]);
  });

  it.each(covered)("$file: gives the calls and the stop of its adapter, and its text", async ({ file, api }) => {
    const raw = readFileSync(new URL(file, FOLDER), "utf8");
    const draft = READERS[api]?.(JSON.parse(raw) as never);
    const { content, stopReason, usage } = await readRecorded(file);
    const calls = content.flatMap((part) => (part.type === "toolCall" ? [part] : []));
    expect(calls.map(({ type: _type, ...call }) => call)).toEqual(draft?.calls);
    expect(stopReason).toBe(draft?.stopReason);
    for (const part of content) {
      if (part.type !== "toolCall")
        for (const line of part.text.split("\n")) expect(raw).toContain(JSON.stringify(line).slice(1, -1));
    }
    expect(usage === undefined || usage.totalTokens >= usage.outputTokens).toBe(true);
  });

  it.each(covered)("$file: is played by an Agent to a transcript that a provider takes", async ({ file }) => {
    const response = await readRecorded(file);
    const names = new Set(response.content.flatMap((part) => (part.type === "toolCall" ? [part.name] : [])));
    const tools = [...names].map((name) =>
      defineTool({ name, description: name, inputSchema: { type: "object" }, risk: "readOnly", execute: () => "ok" }),
    );
    const model = recordedModel(new URL(file, FOLDER));
    const bench = openAgentBench({
      tools,
      model: { generate: async (request, context) => (request.turn === 1 ? model.generate(request, context) : say()) },
    });
    const { result } = await bench.play();
    expect(findTranscriptFaults(result.messages)).toEqual([]);
    expect(result.toolCalls).toBe(response.content.filter(({ type }) => type === "toolCall").length);
    const hasFailed = response.stopReason === "error" || response.stopReason === "aborted";
    expect(result.status).toBe(hasFailed ? "providerError" : "completed");
  });

  it.each(others)("$file: is of a wire that is not covered, and says so", ({ file }) => {
    expect(() => recordedModel(new URL(file, FOLDER))).toThrow(
      /response 1 is neither a whole response of a known wire/,
    );
  });
});
