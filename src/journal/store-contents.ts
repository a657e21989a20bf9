import type { JournalEvidence } from "../domain/journal.ts";
import type { StoredRunStatus } from "../domain/run-store.ts";
import type { StoredEntry } from "./stored-entry.ts";

/** A conflict scope that has been claimed; nobody holds it. */
export interface ScopeContents {
  readonly id: string;
  readonly name: string;
  readonly fence: number;
}

/** Something kept beside the receipt of an operation. */
export interface EvidenceContents extends JournalEvidence {
  readonly operationId: string;
}

/** A run, without its facts; nobody holds it. */
export interface RunContents {
  readonly runId: string;
  readonly status: StoredRunStatus;
  readonly turn: number;
  readonly fence: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * Everything a store holds, to be moved to another one: final and abandoned entries, scopes, evidence, and
 * runs with their facts as JSON text. Given in pages, each read when it is asked for.
 */
export interface StoreContents {
  entries(): Iterable<readonly StoredEntry[]>;
  scopes(): Iterable<readonly ScopeContents[]>;
  evidence(): Iterable<readonly EvidenceContents[]>;
  runs(): Iterable<RunContents>;
  facts(runId: string): readonly string[];
}

/** How much was moved. */
export interface MovedCounts {
  readonly entries: number;
  readonly scopes: number;
  readonly evidence: number;
  readonly runs: number;
  readonly facts: number;
}
