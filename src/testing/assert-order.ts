/**
 * Holds the events of sessions and runs to the rules of order.
 * Owns: what has been told of each run so far. Does not own: caps and settings, which are in no event.
 * Upholds: PREP-1, PREP-2, PREP-6, EPOCH-2, EPOCH-4, EPOCH-6, UNC-1, UNC-2, UNC-3, UNC-5, CAN-1, CAN-2,
 * CAN-4, APP-1, RUN-4, OBS-1.
 */
import type { RecordedEvent } from "toolkernel";
import { checkGiven, type OptionCheck, readGiven } from "../domain/check-options.ts";
import type { CallOrder } from "./call-order.ts";
import { RuleViolation } from "./rule-violation.ts";
import { TurnOrder } from "./turn-order.ts";

/**
 * Checks events in the order in which they came: of one batch, of one run, or of a recording that
 * `readJsonLines` gave back, whose runs may be mixed.
 *
 * **shape**: whole batches from their first event on; the end may be missing, where a process died.
 *
 * @throws RuleViolation naming the rule, the call and the event, for the first rule that was broken;
 * KernelError `INVALID_OPTIONS` for anything but events.
 */
export function assertOrder(events: Iterable<RecordedEvent>): void {
  const runs = new Map<string, RunOrder>();
  for (const event of readGiven("events", () => [...events])) {
    checkGiven(event, "events", mustBeEvent);
    const run = runs.get(event.runId) ?? new RunOrder();
    runs.set(event.runId, run);
    readEvent(run, event);
  }
}

const mustBeEvent: OptionCheck = (value) => {
  const { kind, runId, seq, turn } = (value ?? {}) as Partial<RecordedEvent>; // looked at, not trusted
  const isOne = [kind, runId].every((text) => typeof text === "string") && [seq, turn].every(Number.isFinite);
  return isOne ? undefined : "must be events, each with kind, runId, seq and turn";
};

/** What was broken is told as it is; what cannot be read is not an event. */
function readEvent(run: RunOrder, event: RecordedEvent): void {
  const violation = readGiven("events", () => {
    try {
      run.take(event);
      return undefined;
    } catch (error) {
      if (error instanceof RuleViolation) return error;
      throw error;
    }
  });
  if (violation !== undefined) throw violation;
}

/** The order within one run. */
class RunOrder {
  readonly #turns = new Map<number, TurnOrder>();
  #lastSeq = -1;
  #hasEnded = false;
  #isContinued = false;
  /** Whether the first of its events are here. */
  #isWhole: boolean | undefined;

  take(event: RecordedEvent): void {
    this.#checkPlace(event);
    if (event.kind === "runEnded") this.#end(event);
    else if (event.kind === "turnEnded") this.#turnAt(event.turn).checkWhole("turnEnded");
    else this.#turnAt(event.turn).take(event);
  }

  #checkPlace({ kind, seq }: RecordedEvent): void {
    // Another process goes on with a run by events of its own, counted from 0.
    const isContinued = kind === "runResumed" || seq === 0;
    this.#isWhole ??= seq === 0 && kind !== "runResumed";
    if (kind === "runResumed" || (seq === 0 && this.#lastSeq >= 0)) this.#continue();
    if (seq <= this.#lastSeq && !isContinued)
      throw new RuleViolation("OBS-1", `event ${seq} (${kind}) came after event ${this.#lastSeq}`);
    if (this.#hasEnded && !isContinued) throw new RuleViolation("RUN-4", `${kind} came after runEnded`);
    this.#lastSeq = seq;
    this.#hasEnded = false;
  }

  #continue(): void {
    this.#isContinued = true;
    for (const turn of this.#turns.values()) turn.continue();
  }

  #end(event: RecordedEvent<"runEnded">): void {
    this.#hasEnded = true;
    if (event.status === "awaitingApproval" || event.status === "kernelError") return;
    for (const turn of this.#turns.values()) turn.checkWhole("runEnded");
  }

  #turnAt(turn: number): TurnOrder {
    const known = this.#turns.get(turn);
    if (known !== undefined) return known;
    const mayBeHeld = (blockedBy: string, held: CallOrder): boolean => this.#mayBeHeld(turn, blockedBy, held);
    const order = new TurnOrder({ isContinued: this.#isContinued, mayBeHeld });
    this.#turns.set(turn, order);
    return order;
  }

  /** What was before the first event that is here is not known, and is not held against anybody. */
  #mayBeHeld(turn: number, blockedBy: string, held: CallOrder): boolean {
    if (this.#isContinued || this.#isWhole !== true) return true;
    return [...this.#turns].some(([other, order]) => other !== turn && order.mayHoldLater(blockedBy, held));
  }
}
