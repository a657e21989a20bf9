import type { AiSdkLanguageModel, AiSdkSpecification } from "toolkernel/ai-sdk";

/** A language model that records what it was asked and answers from a list. */
export interface FakeModel extends AiSdkLanguageModel {
  readonly asked: readonly Readonly<Record<string, unknown>>[];
  readonly supportedUrls: object;
}

/** What a fake model does when asked: gives stream parts, or throws. */
export type FakeAnswer = readonly object[] | Error;

/** A model that streams its answers, one a request. */
export function streamingModel(answers: readonly FakeAnswer[], version: AiSdkSpecification = "v3"): FakeModel {
  const asked: Readonly<Record<string, unknown>>[] = [];
  return {
    ...NAMES,
    specificationVersion: version,
    asked,
    doGenerate: async () => {
      throw new Error("Not implemented");
    },
    doStream: async (options: never) => {
      asked.push(options);
      const answer = answers[asked.length - 1] ?? [];
      if (answer instanceof Error) {
        throw answer;
      }
      return { stream: streamOf(answer) };
    },
  };
}

/** A model that gives whole responses and cannot stream. */
export function wholeModel(answers: readonly object[], version: AiSdkSpecification = "v3"): FakeModel {
  const asked: Readonly<Record<string, unknown>>[] = [];
  return {
    ...NAMES,
    specificationVersion: version,
    asked,
    doGenerate: async (options: never) => {
      asked.push(options);
      return answers[asked.length - 1];
    },
    doStream: async () => {
      throw new Error("Not implemented");
    },
  };
}

/** A stream of parts; a part that is an error breaks it there. */
export function streamOf(parts: readonly object[]): ReadableStream<object> {
  const rest = [...parts];
  return new ReadableStream({
    pull(controller) {
      const next = rest.shift();
      if (next === undefined) {
        controller.close();
      } else if (next instanceof Error) {
        controller.error(next);
      } else {
        controller.enqueue(next);
      }
    },
  });
}

/** An error as provider packages throw it for a request that failed. */
export function apiError(fields: { readonly isRetryable: boolean; readonly responseHeaders?: object }): Error {
  return Object.assign(new Error("overloaded"), { name: "AI_APICallError", ...fields });
}

const NAMES = { provider: "fake", modelId: "fake-1", supportedUrls: { "image/*": [/^https:/] } };
