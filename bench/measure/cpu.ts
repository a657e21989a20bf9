/** CPU time that this process has used so far, all its threads, in microseconds. */
export function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

type Collect = (options?: { readonly type: "major" | "minor" }) => void;

/**
 * Collects young garbage, so that a round does not pay for the one before; needs `--expose-gc`. Not all
 * garbage: a full collection between rounds, when no object of a runtime is alive, makes V8 forget the
 * shapes of its objects and the code compiled for them, and the next round would measure the compiler.
 */
export function collectYoungGarbage(): void {
  collector()({ type: "minor" });
}

/** Collects all garbage, so that what is left can be weighed; needs `--expose-gc`. */
export function collectAllGarbage(): void {
  collector()();
}

function collector(): Collect {
  const { gc } = globalThis as { gc?: Collect };
  if (gc === undefined) throw new Error("the bench needs node --expose-gc");
  return gc;
}
