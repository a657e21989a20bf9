import type { ApprovalDecisions } from "../domain/approval.ts";
import { invalidOption } from "../domain/check-options.ts";
import type { KernelError } from "../domain/errors.ts";
import type { Message } from "../domain/message.ts";
import type { RunOutcome } from "../domain/run.ts";
import type { RunStore } from "../domain/run-store.ts";
import type { ApprovalStanding } from "../run/batch/batch-approvals.ts";
import type { RunLoop } from "../run/loop/run-loop.ts";
import type { ResumeFacts } from "../run/loop/run-settings.ts";
import { hearWithResume } from "../run/loop/said-messages.ts";
import { FactRecorder } from "../run/store/fact-recorder.ts";
import { type EntryPoint, restoreRun, storedOutcomeOf } from "../run/store/restore-run.ts";
import { noteGoingOn } from "../run/store/run-records.ts";
import { isStorable } from "../run/store/storable.ts";
import { claimInTime } from "../run/store/store-time.ts";
import { foldRun, type StoredBatch, type StoredRun } from "../run/store/stored-run.ts";
import { checkAnswers } from "./check-answers.ts";
import { notFoundError } from "./failed-run.ts";

/**
 * Takes a new run into a store before it begins. Rejects with `INVALID_OPTIONS` when its id is taken, or its
 * messages are not JSON.
 */
export async function claimNewRun(store: RunStore, loop: RunLoop, prompt: readonly Message[]): Promise<void> {
  const { core } = loop;
  checkStorable([...loop.transcript.messages, ...prompt], "messages");
  const claim = await claimInTime(core.settings.steady, store.claim(core.settings.runId, { create: true }));
  if (claim.facts.length > 0) {
    await claim.release();
    throw invalidOption("runId", "is the id of a run that the store already has; resume it, or use another id");
  }
  core.recorder = new FactRecorder(claim, core.settings.steady, (error) => loop.loseStore(error));
}

/** @throws KernelError `INVALID_OPTIONS` for what a store could not keep. */
export function checkStorable(said: unknown, path: string): void {
  if (!isStorable(said)) throw invalidOption(path, "must be JSON, since the run is kept in a store");
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
  const claim = await claimInTime(core.settings.steady, store.claim(runId, { create: false }));
  try {
    // Made, and given up before anything of it was recorded: there is nothing to go on from.
    if (claim.facts.length === 0) throw notFoundError();
    const stored = foldRun(claim.facts);
    if (!isAgentsRun(stored)) throw invalidOption("runId", "belongs to a session; resume it with createToolSession");
    checkStoredApprovals(stored, facts.approvals);
    const outcome = storedOutcomeOf(runId, stored);
    if (outcome === undefined)
      core.recorder = new FactRecorder(claim, core.settings.steady, (error: KernelError) => loop.loseStore(error));
    // Behind what was said to an earlier process, in front of what is said from now on.
    hearWithResume(loop, facts.message);
    if (outcome !== undefined) {
      await claim.release().catch(() => undefined);
      return { kind: "ended", outcome };
    }
    const entry = restoreRun(loop, stored);
    loop.takeUp(facts);
    noteGoingOn(loop);
    // A request is about to be made: what came with `resume` is for it.
    if (entry === "BEGIN" && facts.message !== undefined) loop.queues.makeDue("steering");
    return { kind: "open", entry };
  } catch (error) {
    await claim.release().catch(() => undefined);
    throw error;
  }
}

/** Whether a run has a transcript of its own; a session's has not. */
export function isAgentsRun({ earlier, added, history }: StoredRun): boolean {
  const first = history.find((batch) => batch !== null);
  if (first === undefined || first === null) return earlier.length + added.length > 0;
  return first.response.message !== undefined;
}

/**
 * Checks answers against the approvals of a stored run.
 * @throws KernelError `INVALID_OPTIONS` for an id that is not open and was not answered so (APP-2).
 */
export function checkStoredApprovals({ history }: StoredRun, approvals: ApprovalDecisions): void {
  const known = new Map(history.flatMap((batch) => (batch === null ? [] : approvalsOf(batch))));
  checkAnswers(approvals, (id) => known.get(id), "run");
}

function approvalsOf({
  preparations,
  decisions,
  ended,
}: StoredBatch): readonly (readonly [string, ApprovalStanding])[] {
  return (preparations ?? []).flatMap((known): (readonly [string, ApprovalStanding])[] => {
    const approvalId = known.kind === "prepared" ? known.approval?.approvalId : undefined;
    const decision = decisions.get(known.index);
    if (approvalId === undefined || (decision === undefined && ended !== undefined)) return [];
    if (decision === undefined) return [[approvalId, "open"]];
    return [[approvalId, decision.block === undefined ? "granted" : "blocked"]];
  });
}
