import type { ModelResponse } from "../domain/model.ts";
import type { RunLoop } from "./run-loop.ts";
import type { ReadAssistant } from "./transcript.ts";

/** Takes a model's response into the run: its tokens, its fault if it ended in one, its message. */
export function takeResponse(run: RunLoop, response: ModelResponse): ReadAssistant {
  const { stopReason, errorMessage, usage, content } = response;
  run.totalTokens += usage?.totalTokens ?? 0;
  if (stopReason === "error" || stopReason === "aborted") {
    run.error = new Error(errorMessage ?? `The model's response ended with "${stopReason}".`);
  }
  const assistant = run.transcript.readResponse(response, run.turn);
  // An empty message says nothing, and providers refuse it in the next request.
  if (content.length > 0) run.append(assistant.message);
  return assistant;
}
