import type { ModelProvider, ModelRequest, ModelResponse } from "toolkernel";

/** One response of a script: given, or made from the request. */
export type ScriptedResponse = ModelResponse | ((request: ModelRequest) => ModelResponse | Promise<ModelResponse>);

/**
 * A model that gives the responses of a script, one per request, in order. Text and reasoning are also
 * streamed, a part at a time. A request past the end of the script fails, which ends a run as
 * `providerError`: a test that asks too often should see it.
 */
export function scriptedModel(responses: readonly ScriptedResponse[]): ModelProvider {
  let next = 0;
  return {
    async generate(request, { emit }) {
      const scripted = responses[next];
      next += 1;
      if (scripted === undefined)
        throw new Error(`The script has ${responses.length} responses; request ${next} has none.`);
      const response = typeof scripted === "function" ? await scripted(request) : scripted;
      for (const part of response.content) {
        if (part.type !== "toolCall") emit({ type: part.type, text: part.text });
      }
      return response;
    },
  };
}
