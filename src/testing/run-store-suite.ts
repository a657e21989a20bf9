import type { RunStore } from "toolkernel";
import { checkGiven, mustBeFunction } from "../domain/check-options.ts";
import type { SuiteCase } from "./journal-suite/desk.ts";
import { RUN_CLAIM_CASES } from "./run-store-suite/claims.ts";
import { RUN_FACT_CASES } from "./run-store-suite/facts.ts";
import { RUN_KEEPING_CASES } from "./run-store-suite/keeping.ts";
import { RunDesk, type RunDeskCase } from "./run-store-suite/run-desk.ts";

/**
 * The conformance suite of run stores (RUN-6): what the stock stores are held to, and what a host can hold
 * a store of its own to. Each case opens a run store by `open` and closes it; the stores may share one
 * database, since no two cases use the same ids. Cases that prune remove whatever ended there.
 *
 * **shape**: `for (const { name, run } of testRunStore(open)) test(name, run)` in any runner; a case that
 * fails rejects.
 *
 * @throws KernelError `INVALID_OPTIONS` for anything but a function.
 */
export function testRunStore(open: () => Promise<RunStore>): readonly SuiteCase[] {
  checkGiven(open, "open", mustBeFunction);
  const cases: readonly RunDeskCase[] = [...RUN_CLAIM_CASES, ...RUN_FACT_CASES, ...RUN_KEEPING_CASES];
  return cases.map(({ name, run }) => ({
    name,
    run: async () => {
      const store = await open();
      try {
        await run(new RunDesk(store));
      } finally {
        await store.close();
      }
    },
  }));
}
