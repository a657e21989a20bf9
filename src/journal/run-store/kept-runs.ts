/**
 * A run store on whatever keeps its runs: what all stores have in common.
 * Owns: which runs are held through this store, and those it could not give back. Does not own: what is
 * durable, which the backend has. Invariants: a run is held once (RUN-6); a run that could not be given
 * back is given back when the backend answers again.
 */
import type { RunClaim, RunPage, RunProgress, RunStore } from "../../domain/run-store.ts";
import { readPage, readTimeBefore } from "../keeping-options.ts";
import { HeldRun } from "./held-run.ts";
import type { AppendRequest, GiveBackRequest, RunBackend, TakeRequest } from "./run-backend.ts";
import { runClaimed, runLost, runNotFound, storeClosed } from "./run-errors.ts";
import { checkRunId } from "./run-id.ts";

/** See the file header. */
export class KeptRuns implements RunStore {
  readonly #backend: RunBackend;
  readonly #held = new Map<string, Promise<HeldRun>>();
  readonly #owed = new Set<GiveBackRequest>();
  #isClosed = false;

  constructor(backend: RunBackend) {
    this.#backend = backend;
  }

  async claim(runId: string, { create }: { readonly create: boolean }): Promise<RunClaim> {
    this.#checkOpen();
    checkRunId(runId);
    if (this.#held.has(runId)) throw runClaimed();
    const taking = this.#take({ runId, create });
    this.#held.set(runId, taking);
    try {
      return await taking;
    } catch (error) {
      this.#held.delete(runId);
      throw error;
    }
  }

  async listOpen(options: { readonly limit: number; readonly after?: string | undefined }): Promise<RunPage> {
    this.#checkOpen();
    const { limit, after } = readPage(options);
    const found = await this.#backend.listOpen(after, limit + 1);
    const runs = found.slice(0, limit);
    const next = found.length > limit ? runs.at(-1)?.runId : undefined;
    return { runs, ...(next !== undefined && { next }) };
  }

  async prune(options: { readonly endedBefore: number }): Promise<number> {
    this.#checkOpen();
    return this.#backend.prune(readTimeBefore(options, "endedBefore"));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled([...this.#held.values()].map(async (taking) => (await taking).idle()));
    await this.#backend.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #take(request: TakeRequest): Promise<HeldRun> {
    const answer = await this.#backend.take(request);
    if (answer.kind === "absent") throw runNotFound();
    if (answer.kind === "claimed") throw runClaimed();
    const { runId } = request;
    const { fence, texts } = answer;
    this.#payBack();
    return new HeldRun({
      runId,
      texts,
      append: (behind, added, progress) => this.#append({ runId, fence, behind, texts: added, progress }),
      giveBack: () => this.#giveBack({ runId, fence }),
      isClosed: () => this.#isClosed,
    });
  }

  async #append(request: AppendRequest): Promise<number> {
    const recorded = await this.#backend.append(request);
    if (recorded === undefined) throw runLost();
    this.#payBack();
    return recorded;
  }

  async #giveBack(request: GiveBackRequest): Promise<void> {
    if (this.#isClosed) return; // closing has ended every claim
    try {
      await this.#backend.giveBack(request);
    } catch (error) {
      this.#owed.add(request);
      throw error;
    } finally {
      this.#held.delete(request.runId);
    }
  }

  /** Tries once more to give back what could not be; the fence keeps it from whoever has taken the run since. */
  #payBack(): void {
    for (const request of [...this.#owed]) {
      this.#owed.delete(request);
      this.#backend.giveBack(request).catch(() => this.#owed.add(request));
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}

/** What the list shows of a run about which nobody has said anything yet. */
export const NEW_RUN: RunProgress = Object.freeze({ status: "running", turn: 0 });
