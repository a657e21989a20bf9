import type { Journal } from "toolkernel";
import { checkGiven, mustBeFunction } from "../domain/check-options.ts";
import { CLAIM_CASES } from "./journal-suite/claims.ts";
import { Desk, type DeskCase, type SuiteCase } from "./journal-suite/desk.ts";
import { ENDING_CASES } from "./journal-suite/endings.ts";
import { KEEPING_CASES } from "./journal-suite/keeping.ts";

/**
 * The conformance suite of journals (ACT-10): what the stock stores are held to, and what a host can hold
 * a store of its own to. Each case opens a journal by `open` and closes it; the journals may share one
 * store, since no two cases use the same ids or keys.
 *
 * **shape**: `for (const { name, run } of testJournal(open)) test(name, run)` in any runner; a case that
 * fails rejects.
 *
 * @throws KernelError `INVALID_OPTIONS` for anything but a function.
 */
export function testJournal(open: () => Promise<Journal>): readonly SuiteCase[] {
  checkGiven(open, "open", mustBeFunction);
  const cases: readonly DeskCase[] = [...CLAIM_CASES, ...ENDING_CASES, ...KEEPING_CASES];
  return cases.map(({ name, run }) => ({
    name,
    run: async () => {
      const journal = await open();
      try {
        await run(new Desk(journal));
      } finally {
        await journal.close();
      }
    },
  }));
}
