import { type SimulatedClock, simulatedClock } from "toolkernel/testing";
import { trackClock, trackSignal } from "./leftovers.ts";

/** An abort signal that nobody may still listen to when the test is over, and the function that fires it. */
export function trackedSignal(name = "tracked"): { readonly signal: AbortSignal; abort(reason?: unknown): void } {
  const controller = new AbortController();
  trackSignal(controller.signal, name);
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

/** A simulated clock on which no timer may still wait when the test is over. */
export function trackedClock(name = "tracked"): SimulatedClock {
  const simulated = simulatedClock();
  trackClock(simulated, name);
  return simulated;
}
