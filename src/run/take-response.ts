import type { ModelResponse } from "../domain/model.ts";
import type { RunLoop } from "./run-loop.ts";
import type { ReadAssistant } from "./transcript.ts";

/** Takes a model's response into the run: its tokens, its fault if it ended in one, its calls. */
export function takeResponse(run: RunLoop, response: ModelResponse): ReadAssistant {
  const { stopReason, errorMessage, usage } = response;
  run.totalTokens += usage?.totalTokens ?? 0;
  if (stopReason === "error" || stopReason === "aborted") {
    run.error = new Error(errorMessage ?? `The model's response ended with "${stopReason}".`);
  }
  return run.transcript.readResponse(response, run.turn);
}
