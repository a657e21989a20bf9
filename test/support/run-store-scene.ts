import type { RunStore } from "../../src/domain/run-store.ts";

/** The facts that a store keeps of a run that nobody holds. */
export async function factsOf(store: RunStore, runId: string) {
  const claim = await store.claim(runId, { create: false });
  await claim.release();
  return claim.facts;
}
