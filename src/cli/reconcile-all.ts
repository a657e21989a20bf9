import type { OpenWorld } from "./world.ts";

/** What became of an uncertain action that the world was asked about. */
export interface Reconciled {
  readonly action: string;
  readonly conflictKeys: readonly string[];
  readonly operationId: string;
  /** The status of its receipt, or `uncertain` while nobody knows. */
  readonly status: string;
}

const PAGE = 100;

/** Asks the world what became of every uncertain action of the journal, one after another. */
export async function reconcileAll(
  { journal, dispatcher }: OpenWorld,
  tell: (told: Reconciled) => void,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const page = await journal.listOpen({ limit: PAGE, after });
    for (const { state, intent } of page.entries) {
      if (state !== "uncertain") continue;
      const { operationId, action, conflictKeys } = intent;
      const reconciled = await dispatcher.reconcile(operationId);
      tell({ action, conflictKeys, operationId, status: reconciled?.receipt.status ?? "uncertain" });
    }
    if (page.next === undefined) return;
    after = page.next;
  }
}
