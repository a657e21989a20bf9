import { strict as assert } from "node:assert";
import { randomBytes } from "node:crypto";
import type { RunClaim, RunFact, RunListing, RunStore } from "toolkernel";

/** A case that works on one open run store. */
export interface RunDeskCase {
  readonly name: string;
  readonly run: (desk: RunDesk) => Promise<void>;
}

/**
 * What a case works at: one run store, and names that no other case has, since stores may be shared.
 * Owns: nothing but the name.
 */
export class RunDesk {
  readonly store: RunStore;
  readonly #name = randomBytes(6).toString("hex");

  constructor(store: RunStore) {
    this.store = store;
  }

  /** A run id that only this case uses. */
  name(text: string): string {
    return `${this.#name}-${text}`;
  }

  /** Makes a run, or takes it up again. */
  claim(text: string): Promise<RunClaim> {
    return this.store.claim(this.name(text), { create: true });
  }

  /** Makes a run that holds facts, and gives it back. */
  async keep(text: string, facts: readonly RunFact[], status: RunListing["status"] = "running"): Promise<void> {
    const claim = await this.claim(text);
    await claim.append(facts, { status, turn: 1 });
    await claim.release();
  }

  /** The facts of a run that nobody holds, as the next one to take it is given them. */
  async factsOf(text: string): Promise<readonly RunFact[]> {
    const claim = await this.store.claim(this.name(text), { create: false });
    await claim.release();
    return claim.facts;
  }

  /** The open runs of this case, as a list of all that are open shows them, page by page. */
  async listing(pageSize = 1_000): Promise<readonly RunListing[]> {
    const listed: RunListing[] = [];
    for (let after: string | undefined; ; ) {
      const page: Awaited<ReturnType<RunStore["listOpen"]>> = await this.store.listOpen({ limit: pageSize, after });
      assert.ok(page.runs.length <= pageSize, "a page holds no more than was asked for");
      listed.push(...page.runs);
      assert.ok(page.next === undefined || page.next > (after ?? ""), "the next page comes after this one");
      after = page.next;
      if (after === undefined) return listed.filter(({ runId }) => runId.startsWith(this.name("")));
    }
  }
}

/** A fact that says a number, to tell facts apart by. */
export function fact(number: number): RunFact {
  return { kind: "dispatched", turn: 1, index: number, atMs: 0 };
}

/** Several such facts, from one number up to another, both included. */
export function factsUpTo(last: number, first = 1): RunFact[] {
  return Array.from({ length: last - first + 1 }, (_, index) => fact(first + index));
}
