/** What order the events of one call have told of it. */

/** One call of a turn; changed by the turn's order alone. */
export interface CallOrder {
  readonly callId: string;
  readonly index: number;
  /** Keys, or the numbers that stand for them; undefined: not told. */
  keys: readonly (string | number)[] | undefined;
  isWrite: boolean | undefined;
  epoch: number | undefined;
  isRefused: boolean;
  isBlocked: boolean;
  isDispatched: boolean;
  outcome: string | undefined;
  isResolved: boolean;
  /** Whether an earlier process may have dispatched it, or has settled it (RUN-6). */
  isOfEarlier: boolean;
}

/** A call of which nothing has been told yet. */
export function newCallOrder(told: Pick<CallOrder, "callId" | "index" | "isOfEarlier">): CallOrder {
  return {
    ...told,
    keys: undefined,
    isWrite: undefined,
    epoch: undefined,
    isRefused: false,
    isBlocked: false,
    isDispatched: false,
    outcome: undefined,
    isResolved: false,
  };
}

/** Whether it was dispatched and has no result. */
export function isRunning({ isDispatched, outcome }: CallOrder): boolean {
  return isDispatched && outcome === undefined;
}

/** Whether its batch was cancelled before it was dispatched, in this process. */
export function wasCancelledWaiting({ isDispatched, outcome, isOfEarlier }: CallOrder): boolean {
  return outcome === "cancelled" && !isDispatched && !isOfEarlier;
}

/** Whether it is uncertain and nobody has resolved it. */
export function isOpenUncertainty({ outcome, isResolved }: CallOrder): boolean {
  return outcome === "uncertain" && !isResolved;
}

/** Whether two calls name the same key, as far as keys are told. */
export function sharesKey(one: CallOrder, other: CallOrder): boolean {
  return one.keys?.some((key) => other.keys?.includes(key) === true) === true;
}

/** Whether an uncertain write certainly keeps a later write of its batch back (UNC-2, UNC-3). */
export function holdsBack(uncertain: CallOrder, later: CallOrder): boolean {
  if (later.isWrite !== true) return false;
  return uncertain.keys?.length === 0 || later.keys?.length === 0 || sharesKey(uncertain, later);
}

/** Whether it may, as far as keys are told. */
export function mayHoldBack(uncertain: CallOrder, later: CallOrder): boolean {
  if (uncertain.keys === undefined || later.keys === undefined) return true;
  return uncertain.keys.length === 0 || later.keys.length === 0 || sharesKey(uncertain, later);
}

/** A call as a violation names it. */
export function nameOf({ index, callId }: CallOrder): string {
  return `call ${index} (${callId})`;
}
