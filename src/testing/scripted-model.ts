import type { ModelProvider, ModelRequest, ModelResponse } from "toolkernel";
import { checkGiven, mustBeRecord, type OptionCheck } from "../domain/check-options.ts";

/** One response of a script: given, or made from the request. */
export type ScriptedResponse = ModelResponse | ((request: ModelRequest) => ModelResponse | Promise<ModelResponse>);

const mustBeScript: OptionCheck = (value) => {
  const isOne =
    Array.isArray(value) &&
    Array.from(value).every((each) => typeof each === "function" || mustBeRecord(each) === undefined);
  return isOne ? undefined : "must be an array of responses, or of functions that return one";
};

/**
 * A model that gives the responses of a script, one per request, in order. Text and reasoning are also
 * streamed, a part at a time. A request past the end of the script fails, which ends a run as
 * `providerError`: a test that asks too often should see it.
 * @throws KernelError `INVALID_OPTIONS` for anything but a list of responses and functions.
 */
export function scriptedModel(responses: readonly ScriptedResponse[]): ModelProvider {
  checkGiven(responses, "responses", mustBeScript);
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
