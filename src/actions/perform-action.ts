import type { GameActionIntent, GameActionReceipt } from "../domain/action.ts";
import type { FinishAnswer } from "../domain/journal.ts";
import { FACT_OF_STATUS } from "./action-life.ts";
import type { Claimed } from "./claim-action.ts";
import { type DispatchParts, insistOnStep } from "./dispatch-parts.ts";
import type { Insisted } from "./insist.ts";
import type { LiveAction } from "./live-actions.ts";
import { readReceipt, readThrown, uncertainReceipt } from "./receipt.ts";

/** What a claimed action is performed with. */
export interface Performance {
  readonly claimed: Extract<Claimed, { kind: "claimed" }>;
  readonly signal: AbortSignal;
  /**
   * How long after its signal the handler may still answer; undefined: until the kernel abandons the
   * call, which has a grace of its own (CAN-2).
   */
  readonly graceMs: number | undefined;
}

/** The receipt that stands when the dispatch is over, and the time the handler took. */
export interface Performed {
  readonly receipt: GameActionReceipt;
  readonly hostMs: number;
}

/**
 * Calls the handler, once, and saves its receipt (ACT-1, ACT-6). A handler that does not answer in time
 * leaves the action uncertain; what it answers later still closes it, unless a reconciler or a person
 * came first. Never rejects.
 */
export async function performAction(parts: DispatchParts, performance: Performance): Promise<Performed> {
  const { clock, live } = parts;
  const { intent, fence } = performance.claimed;
  const startedMs = clock.now();
  const watch = watchForAbandonment(parts, performance);
  live.add(intent.operationId, watch.action);
  const answered = callHandler(parts, performance);
  const first = await Promise.race([answered, watch.abandoned]);
  watch.stop();
  const hostMs = clock.now() - startedMs;
  if (first !== "abandoned") {
    const receipt = await conclude(parts, performance, { receipt: first, action: watch.action });
    live.remove(intent.operationId);
    return { receipt, hostMs };
  }
  const receipt = uncertainReceipt(intent, "no_answer");
  performance.claimed.life.tell("LOST");
  await insistOnStep(parts, () => parts.journal.protocol.doubt({ operationId: intent.operationId, fence, receipt }));
  watch.settleDoubt();
  void concludeLate(parts, performance, answered);
  return { receipt, hostMs };
}

interface AbandonmentWatch {
  readonly action: LiveAction;
  readonly abandoned: Promise<"abandoned">;
  readonly settleDoubt: () => void;
  readonly stop: () => void;
}

/** Ends the wait for a handler when the kernel says so, or when its grace after the signal is over. */
function watchForAbandonment({ clock }: DispatchParts, { claimed, signal, graceMs }: Performance): AbandonmentWatch {
  let abandon = (): void => undefined;
  let settleDoubt = (): void => undefined;
  let stopTimer = (): void => undefined;
  const abandoned = new Promise<"abandoned">((resolve) => {
    abandon = () => resolve("abandoned");
  });
  const doubted = new Promise<void>((resolve) => {
    settleDoubt = resolve;
  });
  const startGrace = (): void => {
    if (graceMs !== undefined) stopTimer = clock.setTimer(clock.now() + graceMs, abandon);
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener("abort", startGrace, { once: true });
  return {
    action: { intent: claimed.intent, phase: "handling", abandon, doubted },
    abandoned,
    settleDoubt,
    stop: () => {
      stopTimer();
      signal.removeEventListener("abort", startGrace);
    },
  };
}

/** What the handler answered, as a receipt; never rejects. */
async function callHandler({ handler }: DispatchParts, { claimed, signal }: Performance): Promise<GameActionReceipt> {
  const { intent, fence } = claimed;
  try {
    return readReceipt(await handler.execute(intent, { signal, fence }), intent);
  } catch (error) {
    return readThrown(error, intent);
  }
}

interface Conclusion {
  readonly receipt: GameActionReceipt;
  readonly action: LiveAction;
}

/** Writes what the handler answered, and returns the receipt that stands. */
async function conclude(
  parts: DispatchParts,
  performance: Performance,
  conclusion: Conclusion,
): Promise<GameActionReceipt> {
  const { intent, life } = performance.claimed;
  const { receipt, action } = conclusion;
  if (receipt.status === "uncertain") {
    action.phase = "ending";
    life.tell("LOST");
    const { fence } = performance.claimed;
    await insistOnStep(parts, () => parts.journal.protocol.doubt({ operationId: intent.operationId, fence, receipt }));
    return receipt;
  }
  action.phase = "saving";
  const saved = await saveReceipt(parts, performance, receipt);
  if (saved.kind === "gaveUp") return uncertainReceipt(intent, "receipt_not_durable");
  if (saved.answer.kind === "overtaken") return saved.answer.entry.receipt ?? uncertainReceipt(intent, "no_answer");
  life.tell(FACT_OF_STATUS[receipt.status]);
  return receipt;
}

async function saveReceipt(
  parts: DispatchParts,
  performance: Performance,
  receipt: GameActionReceipt,
): Promise<Insisted<FinishAnswer>> {
  const { intent, fence, scopes } = performance.claimed;
  const { operationId } = intent;
  const insisted = insistOnStep(parts, () => parts.journal.protocol.finish({ operationId, fence, receipt }));
  // Whoever is next in line asks now, so that this receipt and its claim can share one commit.
  parts.room.wake({ operationId, scopes });
  return insisted;
}

/** Saves what an abandoned handler answers in the end; the journal decides whether it still counts. */
async function concludeLate(
  parts: DispatchParts,
  performance: Performance,
  answered: Promise<GameActionReceipt>,
): Promise<void> {
  const { operationId }: GameActionIntent = performance.claimed.intent;
  const receipt = await answered;
  if (receipt.status !== "uncertain") await saveReceipt(parts, performance, receipt);
  parts.live.remove(operationId);
}
