/** Whether a value is a promise, of any realm or library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/**
 * Takes what code has answered that nobody waits for. That a promise of it rejects is the affair of whoever
 * made it, and must not end the process.
 */
export function letGo(answer: unknown): void {
  if (isThenable(answer)) new Promise((resolve) => resolve(answer)).catch(() => undefined);
}
