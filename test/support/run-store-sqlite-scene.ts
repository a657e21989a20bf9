import type { RunStore } from "../../src/domain/run-store.ts";
import { temporaryDirectory } from "../journal/temporary-directory.ts";

export function newPath(): string {
  return `${temporaryDirectory()}/store.db`;
}

export async function factsOf(store: RunStore, runId: string) {
  const claim = await store.claim(runId, { create: false });
  await claim.release();
  return claim.facts;
}
