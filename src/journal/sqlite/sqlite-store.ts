/**
 * An open journal database: its tables in a durable file.
 * Owns: the ledger, and the sweep of owners whose process has ended. Does not own: commits, locks and the
 * witness, which the file has. Upholds: ACT-5.
 */
import type { Released, SweepCount } from "../../domain/journal.ts";
import { DurableFile, type DurableFileParts } from "./durable-file.ts";
import { sweepOwnerStep } from "./keeping-steps.ts";
import { Ledger } from "./ledger.ts";

/** What a store is made of. */
export interface StoreParts extends DurableFileParts {
  /** Told after each commit what it released. */
  readonly onReleased: (released: Released) => void;
}

/** See the file header. */
export class SqliteStore {
  readonly ledger: Ledger;
  readonly #file: DurableFile;
  #isTidy = false;

  constructor({ path, opened, clock, onReleased }: StoreParts) {
    const ledger = new Ledger(opened.database, () => clock.now());
    this.ledger = ledger;
    this.#file = new DurableFile(
      { path, opened, clock },
      {
        reset: () => ledger.reset(),
        hasWritten: () => ledger.hasWritten,
        committed: () => {
          for (const released of ledger.released) onReleased(released);
        },
      },
    );
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#file.isClosed;
  }

  /** Whether every step that was submitted is committed. */
  get isIdle(): boolean {
    return this.#file.isIdle;
  }

  /** Takes a step in the next commit; see `CommitQueue.submit`. */
  write<Answer>(step: () => Answer): Promise<Answer> {
    return this.#file.write(step);
  }

  /** Reads what is committed. */
  read<Answer>(look: () => Answer): Promise<Answer> {
    return this.#file.read(look);
  }

  /** The name under which this process writes; the first time its lock is taken. */
  owner(): string {
    return this.#file.owner();
  }

  /** @throws KernelError `JOURNAL_FULL` when nothing new may be dispatched. */
  checkSpace(): void {
    this.#file.checkSpace();
  }

  /** Looks after every owner whose process has ended (ACT-5). */
  async sweep(): Promise<SweepCount> {
    const owners = await this.read(() => this.ledger.entries.listOwners());
    let [uncertain, abandoned] = [0, 0];
    for (const owner of owners.filter((name) => name !== this.#file.knownOwner)) {
      const swept = await this.#sweepOwner(owner);
      uncertain += swept.uncertain;
      abandoned += swept.abandoned;
    }
    if (!this.#isTidy) this.#file.locks.tidy([...owners, this.#file.knownOwner ?? ""]);
    this.#isTidy = true;
    return { uncertain, abandoned };
  }

  /** Lets what was submitted be committed, and closes. An owner that leaves something dispatched counts as dead. */
  close(): Promise<void> {
    return this.#file.close((owner) => !this.ledger.entries.listOwners().includes(owner));
  }

  async #sweepOwner(owner: string): Promise<SweepCount> {
    const lock = this.#file.locks.takeFromDead(owner);
    if (lock === undefined) return { uncertain: 0, abandoned: 0 };
    try {
      const swept = await this.write(() => sweepOwnerStep(this.ledger, owner));
      lock.remove();
      return swept;
    } catch (error) {
      lock.release();
      throw error;
    }
  }
}
