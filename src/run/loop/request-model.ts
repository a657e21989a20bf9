/**
 * One request to the model.
 * Owns: its signal, its time-out, whether it is still open. Invariants: exactly one answer is reported,
 * unless it is stopped first; what comes after that is dropped; nothing the model does is thrown (RUN-1).
 */
import type { Delta } from "../../domain/event.ts";
import type { ModelProvider, ModelRequest, ModelResponse } from "../../domain/model.ts";
import type { Clock } from "../../domain/ports.ts";
import type { Deadlines } from "../deadlines.ts";
import { asError } from "../thrown.ts";
import { readDelta, readModelResponse } from "./read-model-response.ts";

const NO_ERROR = "The model provider threw a value that is not an Error.";

/** What a request came to. */
export type ModelAnswer =
  | { readonly kind: "responded"; readonly response: ModelResponse }
  | {
      readonly kind: "failed";
      readonly endedBy: "modelError" | "modelTimeout" | "invalidResponse";
      readonly error: Error;
    };

/** What one request needs. */
export interface ModelRequestPort {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Since the last streamed part. */
  readonly timeoutMs: number;
  readonly onDelta: (delta: Delta) => void;
  readonly onAnswer: (answer: ModelAnswer) => void;
}

/** Sends a request; returns how to stop it. A stopped request reports nothing more. */
export function requestModel(
  model: ModelProvider,
  request: ModelRequest,
  port: ModelRequestPort,
): (reason: unknown) => void {
  const { clock, deadlines, timeoutMs } = port;
  const controller = new AbortController();
  let lastPartAtMs = clock.now();
  let isOpen = true;
  const close = (): boolean => {
    const wasOpen = isOpen;
    isOpen = false;
    deadlines.disarm(deadline);
    return wasOpen;
  };
  const watch = () =>
    deadlines.arm(lastPartAtMs + timeoutMs, () => {
      if (clock.now() < lastPartAtMs + timeoutMs) {
        deadline = watch();
        return;
      }
      close();
      controller.abort(new DOMException("The model timed out.", "TimeoutError"));
      const error = new Error(`The model sent nothing for ${timeoutMs} ms (limits.modelTimeoutMs).`);
      port.onAnswer({ kind: "failed", endedBy: "modelTimeout", error });
    });
  let deadline = watch();
  const emit = (given: unknown): void => {
    if (!isOpen) return;
    lastPartAtMs = clock.now();
    const delta = readDelta(given);
    if (delta !== undefined) port.onDelta(delta);
  };
  // An async function, so that a provider that throws at once rejects like any other.
  const generate = async (): Promise<unknown> => model.generate(request, { signal: controller.signal, emit });
  generate().then(
    (answer) => {
      if (close()) port.onAnswer(readModelResponse(answer));
    },
    (error: unknown) => {
      if (close()) port.onAnswer({ kind: "failed", endedBy: "modelError", error: asError(error, NO_ERROR) });
    },
  );
  return (reason) => {
    if (close()) controller.abort(reason);
  };
}
