/**
 * The AI SDK by `generateText` over a model that answers at once. One response is one step. Its
 * `jsonSchema` validates nothing by itself, so it is given the same ajv check as the floor.
 */

import { generateText, jsonSchema, type LanguageModel, stepCountIs, type ToolSet, tool } from "ai";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSetup, BenchTool, Contender, Host } from "../contender.ts";
import { versionOf } from "./version-of.ts";

/** See the file header. */
export const aiSdk: Contender = { name: "ai", version: versionOf("ai"), equip };

type Result = Awaited<ReturnType<typeof generateText>>;
type Model = Extract<LanguageModel, { readonly specificationVersion: "v3" }>;

function equip({ tools }: BenchSetup): () => Host {
  const ajv = new Ajv2020();
  const toolSet: ToolSet = Object.fromEntries(tools.map((given) => [given.name, toolOf(given, ajv)]));
  return () => open(toolSet);
}

function open(toolSet: ToolSet): Host {
  const run = (
    callsOf: (turn: number) => readonly BenchCall[],
    maxSteps: number,
    signal?: AbortSignal,
  ): Promise<Result> => {
    let turn = 0;
    return generateText({
      model: modelOf(() => callsOf(++turn)),
      tools: toolSet,
      prompt: "Go on.",
      stopWhen: stepCountIs(maxSteps),
      maxRetries: 0,
      ...(signal !== undefined && { abortSignal: signal }),
    });
  };
  return {
    respond: (calls, signal) => run(() => calls, 1, signal),
    answers: (results) => answersOf(results as Result), // what `generateText` has given
    converse: async (callsOf) => {
      await run(callsOf, 100_000);
    },
  };
}

function toolOf({ name, schema, execute }: BenchTool, ajv: Ajv2020): ToolSet[string] {
  const check = ajv.compile(schema);
  return tool({
    description: name,
    inputSchema: jsonSchema<BenchArguments>(schema as object, {
      validate: (value) =>
        check(value)
          ? { success: true, value: value as BenchArguments } // just checked
          : { success: false, error: new Error(ajv.errorsText(check.errors)) },
    }),
    execute: (args, { abortSignal }) => execute(args, () => abortSignal),
  });
}

function modelOf(nextCalls: () => readonly BenchCall[]): Model {
  return {
    specificationVersion: "v3",
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    doGenerate: async () => {
      const calls = nextCalls();
      return {
        content: calls.map(({ id, name, arguments: text }) => ({
          type: "tool-call",
          toolCallId: id,
          toolName: name,
          input: text,
        })),
        finishReason: calls.length === 0 ? { unified: "stop", raw: "stop" } : { unified: "tool-calls", raw: "tool" },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error("the bench does not stream")),
  };
}

function answersOf({ response }: Result): BenchAnswer[] {
  return response.messages.flatMap((message) =>
    message.role === "tool"
      ? message.content.flatMap((part) =>
          part.type === "tool-result"
            ? [
                {
                  id: part.toolCallId,
                  text: "value" in part.output ? String(part.output.value) : "",
                  isError: part.output.type.startsWith("error"),
                },
              ]
            : [],
        )
      : [],
  );
}
