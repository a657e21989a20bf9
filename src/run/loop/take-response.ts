import type { RunEvent } from "../../../machines/run.machine.ts";
import type { ModelResponse } from "../../domain/model.ts";
import { recordResponse } from "../store/run-records.ts";
import type { ModelAnswer } from "./request-model.ts";
import type { RunLoop } from "./run-loop.ts";
import type { ReadAssistant } from "./transcript.ts";

type Report = (event: RunEvent) => void;

/** Takes what came of a model request into the run; a response is durable before its calls are looked at (RUN-6). */
export function takeAnswer(run: RunLoop, answer: ModelAnswer, report: Report): void {
  // What comes behind an abort is not taken: nobody would give its calls their results.
  if (run.cancellation.aborted) return;
  if (answer.kind === "failed") {
    run.error = answer.error;
    report({ type: "MODEL_FAILED", endedBy: answer.endedBy });
    return;
  }
  run.batchResult = undefined;
  run.batch = undefined;
  run.assistant = readResponse(run, answer.response);
  const { assistant } = run;
  const recorded = recordResponse(run, assistant, answer.response.errorMessage);
  if (recorded === undefined) {
    enterResponse(run, assistant, report);
    return;
  }
  const enter = (): void => run.core.mailbox.run(() => enterResponse(run, assistant, report));
  // What cannot be recorded ends the run by itself (CAN-5).
  recorded.then(enter, () => undefined);
}

function enterResponse(run: RunLoop, { message, calls }: ReadAssistant, report: Report): void {
  if (run.cancellation.aborted) return;
  // Before anybody hears of the message: an abort by a listener has to find the batch that settles its calls.
  report({ type: "RESPONDED", hasCalls: calls.length > 0 });
  // An empty message says nothing, and providers refuse it in the next request.
  if (message.content.length > 0) run.append(message);
}

/** What a response failed by, if it ended in an error of the model or provider (PREP-10). */
export function responseError({
  stopReason,
  errorMessage,
}: Pick<ModelResponse, "stopReason" | "errorMessage">): Error | undefined {
  if (stopReason !== "error" && stopReason !== "aborted") return undefined;
  return new Error(errorMessage ?? `The model's response ended with "${stopReason}".`);
}

/** Reads a response: its tokens, its fault if it ended in one, its calls. */
function readResponse(run: RunLoop, response: ModelResponse): ReadAssistant {
  const { stopReason, errorMessage, usage } = response;
  run.totalTokens += usage?.totalTokens ?? 0;
  run.error = responseError({ stopReason, errorMessage }) ?? run.error;
  return run.transcript.readResponse(response, run.turn);
}
