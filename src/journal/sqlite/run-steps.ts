/** What is done to runs in one write transaction (RUN-6). Each step refuses before it writes anything. */
import { NEW_RUN } from "../run-store/kept-runs.ts";
import type { AppendRequest, GiveBackRequest, TakeAnswer, TakeRequest } from "../run-store/run-backend.ts";
import { runCorrupt } from "../run-store/run-errors.ts";
import type { KeptRun, RunTable } from "./run-table.ts";

/** Who takes a run, and what is known of who has it. */
export interface Taker {
  readonly owner: string;
  /** An owner of whom it is known that its process has ended. */
  readonly deadOwner: string | null;
  readonly nowMs: number;
  /** @throws KernelError `JOURNAL_FULL` when no run may be begun. */
  readonly checkSpace: () => void;
}

/** Takes a run that nobody alive has; see `RunBackend.take`. */
export function takeStep(table: RunTable, { runId, create }: TakeRequest, taker: Taker): TakeAnswer {
  const { owner, nowMs } = taker;
  const run = table.find(runId);
  if (run === undefined) {
    if (!create) return { kind: "absent" };
    taker.checkSpace();
    table.insert({ runId, ...NEW_RUN, facts: 0, fence: 1, owner, createdAtMs: nowMs, updatedAtMs: nowMs });
    return { kind: "taken", fence: 1, texts: [] };
  }
  if (run.owner !== null && run.owner !== owner && run.owner !== taker.deadOwner) return { kind: "claimed" };
  const texts = table.readFacts(run);
  const fence = run.fence + 1;
  table.update(run, { owner, fence });
  return { kind: "taken", fence, texts };
}

/** Records facts of a run that an owner has; see `RunBackend.append`. */
export function appendStep(
  table: RunTable,
  request: AppendRequest,
  taker: Pick<Taker, "owner" | "nowMs">,
): number | undefined {
  const run = findHeld(table, request, taker.owner);
  if (run === undefined) return undefined;
  const { behind, texts, progress } = request;
  if (run.facts !== behind) throw runCorrupt(run.runId);
  table.addFacts(run, texts);
  const { status, turn } = progress ?? run;
  const facts = run.facts + texts.length;
  table.update(run, { status, turn, facts, updatedAtMs: taker.nowMs });
  return facts;
}

/** Gives a run back that an owner has; see `RunBackend.giveBack`. */
export function giveBackStep(table: RunTable, request: GiveBackRequest, owner: string): void {
  const run = findHeld(table, request, owner);
  if (run !== undefined) table.update(run, { owner: null });
}

/** Removes runs that stand as they were found, held by nobody or by owners known to be dead; returns how many. */
export function removeStep(table: RunTable, found: readonly KeptRun[]): number {
  const standing = found.filter(({ runId, fence, facts, status }) => {
    const run = table.find(runId);
    return run?.fence === fence && run.facts === facts && run.status === status;
  });
  for (const run of standing) table.remove(run);
  return standing.length;
}

function findHeld(table: RunTable, { runId, fence }: GiveBackRequest, owner: string): KeptRun | undefined {
  const run = table.find(runId);
  return run?.owner === owner && run.fence === fence ? run : undefined;
}
