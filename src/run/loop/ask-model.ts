import type { PreparedTurn } from "./prepare-turn.ts";
import { type ModelAnswer, requestModel } from "./request-model.ts";
import type { RunLoop } from "./run-loop.ts";

/**
 * Sends the request of a prepared turn and tells of what is streamed; returns how to stop it. All it tells
 * comes as tasks of the mailbox, so that a run which a listener aborts ends after it (RUN-4).
 */
export function askModel(
  { core, turn, cancellation }: RunLoop,
  prepared: PreparedTurn | undefined,
  onAnswer: (answer: ModelAnswer) => void,
): (reason: unknown) => void {
  if (prepared === undefined) throw new Error("the model was asked before the turn was prepared");
  core.events.emit("modelRequestStarted", turn, {});
  if (cancellation.aborted) return () => undefined; // by a listener; the chart is about to be told
  let hasStarted = false;
  const start = (): void => {
    if (!hasStarted) core.events.emit("messageStarted", turn, {});
    hasStarted = true;
  };
  return requestModel(prepared.model, prepared.request, {
    clock: core.settings.steady,
    deadlines: core.deadlines,
    timeoutMs: core.settings.limits.modelTimeoutMs,
    onDelta: (delta) =>
      core.mailbox.run(() => {
        start();
        core.events.emit("messageUpdated", turn, { delta });
      }),
    onAnswer: (answer) =>
      core.mailbox.run(() => {
        if (answer.kind === "responded" && answer.response.content.length > 0) start();
        onAnswer(answer);
      }),
  });
}
