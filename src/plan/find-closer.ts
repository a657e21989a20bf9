import type { ClosedBy } from "../domain/batch.ts";
import type { SettledCall } from "../domain/call.ts";

/** What may end the loop beside what the calls themselves ask for. */
export interface CloserFacts {
  /** Whether a receipt could not be projected (PROJ-5). */
  readonly isProjectionFailed: boolean;
  /** Whether the model has repeated itself too often (REP-4). */
  readonly isTerminated: boolean;
  /** What the refusal of the whole response ends the loop with. */
  readonly refusedBy: ClosedBy | undefined;
}

/** What ends the loop after a batch whose calls have all settled, in the fixed precedence (RUN-2); undefined: nothing does. Pure. */
export function findCloser(
  settled: readonly Pick<SettledCall, "result">[],
  { isProjectionFailed, isTerminated, refusedBy }: CloserFacts,
): ClosedBy | undefined {
  if (isProjectionFailed) return "projectionFailed";
  if (isTerminated) return "exactToolRepeat";
  if (settled.length > 0 && settled.every(({ result }) => result.terminate)) return "allTerminate";
  return refusedBy;
}
