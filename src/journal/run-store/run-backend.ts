import type { RunListing, RunProgress } from "../../domain/run-store.ts";

/** What came of trying to take a run. */
export type TakeAnswer =
  /** It is this store's now: every fact recorded so far as JSON, under a fence that has never been before. */
  | { readonly kind: "taken"; readonly fence: number; readonly texts: readonly string[] }
  | { readonly kind: "claimed" }
  | { readonly kind: "absent" };

/** Which run to take; `create` makes it when it is not there. */
export interface TakeRequest {
  readonly runId: string;
  readonly create: boolean;
}

/** Facts to be recorded by who took the run under a fence. `behind`: how many facts stand before them. */
export interface AppendRequest {
  readonly runId: string;
  readonly fence: number;
  readonly behind: number;
  readonly texts: readonly string[];
  readonly progress: RunProgress | undefined;
}

/** A taken run to be given back. */
export interface GiveBackRequest {
  readonly runId: string;
  readonly fence: number;
}

/**
 * Where runs are kept, below the rules that all stores share. Each change is atomic, re-checks that the run
 * is still this store's under that fence, and is durable when its promise resolves. Rejects with `JOURNAL_*`.
 */
export interface RunBackend {
  /**
   * Takes a run that nobody else alive has; one that this store itself has taken is taken anew, since it is
   * known that nobody here uses it.
   */
  take(request: TakeRequest): Promise<TakeAnswer>;
  /**
   * Returns how many facts the run has now; undefined when it is no longer this store's under that fence, and
   * then nothing was recorded. After an append whose answer was lost, the same one again records nothing twice.
   */
  append(request: AppendRequest): Promise<number | undefined>;
  /** Does nothing when the run is no longer this store's under that fence. */
  giveBack(request: GiveBackRequest): Promise<void>;
  /** Open runs after an id, in order of their ids. */
  listOpen(after: string, limit: number): Promise<readonly RunListing[]>;
  /** Removes runs that ended before a time and that nobody alive has; returns how many. */
  prune(endedBefore: number): Promise<number>;
  /** Lets what was submitted be answered, and closes; whoever held a run through it counts as dead. */
  close(): Promise<void>;
}
