import type { ApprovalDecisions } from "../domain/approval.ts";
import { invalidOption } from "../domain/check-options.ts";
import type { ApprovalStanding } from "../run/batch/batch-approvals.ts";

/**
 * Checks answers against what is asked. The answer that an approval was given already may come again, since who
 * gave it cannot know whether it arrived; it changes nothing.
 * @throws KernelError `INVALID_OPTIONS` for an id that is not open and was not answered so (APP-2).
 */
export function checkAnswers(
  approvals: ApprovalDecisions,
  standingOf: (approvalId: string) => ApprovalStanding | undefined,
  owner: "run" | "session",
): void {
  for (const [id, decision] of Object.entries(approvals)) {
    const path = `approvals.${id.slice(0, 64)}`;
    const standing = standingOf(id);
    if (standing === undefined) throw invalidOption(path, `is not an open approval of this ${owner}`);
    if (standing === "open" || standing === (decision === true ? "granted" : "blocked")) continue;
    throw invalidOption(path, `was already ${standing}`);
  }
}
