import type { ActionWatch, AnyActions, GameActionHandler } from "../domain/action.ts";
import type { Journal } from "../domain/journal.ts";
import type { Clock } from "../domain/ports.ts";
import { type ActionChart, ActionLife } from "./action-life.ts";
import { type Insisted, insist, isPassing } from "./insist.ts";
import type { Leftovers } from "./leftovers.ts";
import type { LiveActions } from "./live-actions.ts";
import type { WaitRoom } from "./wait-room.ts";

/** What every step of a dispatcher works with; owned by the dispatcher. */
export interface DispatchParts {
  readonly journal: Journal;
  readonly handler: GameActionHandler<AnyActions>;
  readonly clock: Clock;
  readonly chart: ActionChart;
  readonly room: WaitRoom;
  readonly live: LiveActions;
  /** What nobody waits for any more, and what has to be done all the same. */
  readonly leftovers: Leftovers;
  readonly receiptCommitTimeoutMs: number;
  readonly conflictWaitTimeoutMs: number;
}

/** An action at the start of its life, or at the state that the journal holds. */
export function beginLife(
  { chart }: DispatchParts,
  state: ActionLife["state"] = "new",
  watch?: ActionWatch,
): ActionLife {
  return new ActionLife(chart, state, watch);
}

/**
 * Takes a step that must not be lost: repeated for `receiptCommitTimeoutMs`, and after that in the
 * background for as long as the journal is open (ACT-6). Never rejects.
 */
export async function insistOnStep<Answer>(
  parts: DispatchParts,
  step: () => Promise<Answer>,
): Promise<Insisted<Answer>> {
  const { clock, journal, receiptCommitTimeoutMs } = parts;
  const isUseful = (): boolean => !journal.protocol.isClosed;
  const insisted = await insist({ clock, step, untilMs: clock.now() + receiptCommitTimeoutMs, isUseful });
  // Nobody waits for it any more; what it saves late, the next look at the journal shows.
  if (insisted.kind === "gaveUp" && isPassing(insisted.error) && isUseful()) parts.leftovers.add(step);
  return insisted;
}
