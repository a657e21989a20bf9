/** Whether a value is a promise, of any realm or library. */
export function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/**
 * Takes what code has answered that nobody waits for. That a promise of it rejects is the affair of whoever
 * made it, and must not end the process.
 */
export function ignoreRejection(answer: unknown): void {
  // A promise of the platform's own: one of any other make could throw when it is asked, or answer twice.
  if (isPromiseLike(answer)) new Promise((resolve) => resolve(answer)).catch(() => undefined);
}
