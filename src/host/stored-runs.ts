import type { ApprovalDecisions } from "../domain/approval.ts";
import type { KernelError } from "../domain/errors.ts";
import type { RunOutcome } from "../domain/run.ts";
import type { RunStore } from "../domain/run-store.ts";
import { Recorder } from "../run/recorder.ts";
import { type EntryPoint, restoreRun, storedOutcomeOf } from "../run/restore-run.ts";
import type { RunLoop } from "../run/run-loop.ts";
import { noteGoingOn } from "../run/run-records.ts";
import type { ResumeFacts } from "../run/run-settings.ts";
import { hearWithResume } from "../run/said-messages.ts";
import { foldRun, type StoredBatch } from "../run/stored-run.ts";
import { invalidOption } from "./check-options.ts";
import { notFoundError } from "./failed-run.ts";

/** Takes a new run into a store before it begins. Rejects with `INVALID_OPTIONS` when its id is taken. */
export async function claimNewRun(store: RunStore, loop: RunLoop): Promise<void> {
  const { core } = loop;
  const claim = await store.claim(core.settings.runId, { create: true });
  if (claim.facts.length > 0) {
    await claim.release();
    throw invalidOption("runId", "is the id of a run that the store has already; resume it, or take another id");
  }
  core.recorder = new Recorder(claim, core.settings.clock, (error) => loop.loseStore(error));
}

/** Where a stored run goes on, or what it came to if it has ended. */
export type TakenRun =
  | { readonly kind: "open"; readonly entry: EntryPoint }
  | { readonly kind: "ended"; readonly outcome: RunOutcome };

/**
 * Takes a stored run over from whoever left it. Rejects with `RUN_NOT_FOUND`, `RUN_CLAIMED`, `JOURNAL_*`,
 * or `INVALID_OPTIONS` for an approval id that is not open; the run is then as it was.
 */
export async function takeOverRun(store: RunStore, loop: RunLoop, facts: ResumeFacts): Promise<TakenRun> {
  const { core } = loop;
  const { runId } = core.settings;
  const claim = await store.claim(runId, { create: false });
  try {
    // Made, and given up before anything of it was recorded: there is nothing to go on from.
    if (claim.facts.length === 0) throw notFoundError();
    const stored = foldRun(claim.facts);
    checkOpenApprovals(stored.open, facts.approvals);
    const outcome = storedOutcomeOf(runId, stored);
    if (outcome === undefined)
      core.recorder = new Recorder(claim, core.settings.clock, (error: KernelError) => loop.loseStore(error));
    // Behind what was said to an earlier process, in front of what is said from now on.
    hearWithResume(loop, facts.message);
    if (outcome !== undefined) {
      await claim.release();
      return { kind: "ended", outcome };
    }
    const entry = restoreRun(loop, stored);
    loop.takeUp(facts);
    noteGoingOn(loop);
    // A request is about to be made: what came with `resume` is for it.
    if (entry === "BEGIN" && facts.message !== undefined) loop.queues.makeDue("steering");
    return { kind: "open", entry };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** @throws KernelError `INVALID_OPTIONS` for an answer to an approval that is not open (APP-2). */
export function checkOpenApprovals(open: StoredBatch | undefined, approvals: ApprovalDecisions): void {
  const ids = new Set(openApprovalIds(open));
  const unknown = Object.keys(approvals).find((id) => !ids.has(id));
  if (unknown !== undefined)
    throw invalidOption(`approvals.${unknown.slice(0, 64)}`, "is no open approval of this run");
}

function openApprovalIds(open: StoredBatch | undefined): readonly string[] {
  return (open?.preparations ?? []).flatMap((known) => {
    const isOpen =
      known.kind === "prepared" && known.approval !== undefined && open?.decisions.has(known.index) !== true;
    return isOpen && known.approval !== undefined ? [known.approval.approvalId] : [];
  });
}
