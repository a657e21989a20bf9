/**
 * Statements on connections of a pool.
 * Owns: how long a statement may take, and what happens to a connection that failed. Invariants: a
 * connection that did not answer in time is destroyed, so that a late answer reaches nobody; a statement
 * that is said to be repeatable is taken again after a lost connection, others are not.
 */
import { KernelError } from "../../domain/errors.ts";
import { ANSWER_LOST } from "../../domain/journal.ts";
import type { Clock } from "../../domain/ports.ts";
import type { PostgresClient, PostgresPool, PostgresResult } from "./pool.ts";
import { isConflict, isConnectionLost, NeverSent, toJournalError } from "./postgres-errors.ts";

/** One statement. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

const STATEMENT_TIMEOUT_MS = 8_000;
/** More than a second in all: a pool may hand out several connections that are cut and do not know it yet, and a server takes as long to be back. */
const MOST_ATTEMPTS = 8;
const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 400;

/** See the file header. */
export class Connections {
  readonly #pool: PostgresPool;
  readonly #clock: Clock;

  constructor(pool: PostgresPool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Takes a statement that may be taken twice: again after a deadlock or a lost connection.
   * @throws KernelError `JOURNAL_*`; and the database's own error when it says that the lease ran out.
   */
  async repeatable(statement: Statement): Promise<PostgresResult> {
    let wasSent = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#take(statement);
      } catch (error) {
        wasSent ||= !(error instanceof NeverSent);
        const isWorthwhile = isConflict(error) || isConnectionLost(error) || error instanceof NeverSent;
        if (!isWorthwhile || attempt === MOST_ATTEMPTS)
          throw error instanceof NeverSent && wasSent ? error.cause : error;
      }
      await new Promise<void>((resolve) => {
        const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);
        this.#clock.setTimer(this.#clock.now() + delayMs, resolve);
      });
    }
  }

  /**
   * Takes a statement once.
   * @throws KernelError `JOURNAL_*`
   */
  async once(statement: Statement): Promise<PostgresResult> {
    try {
      return await this.#take(statement);
    } catch (error) {
      throw toJournalError(error);
    }
  }

  /**
   * Uses one connection for several statements.
   * @throws KernelError `JOURNAL_*`
   */
  async together<Answer>(use: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#withClient(use);
    } catch (error) {
      throw toJournalError(error);
    }
  }

  #take({ text, values }: Statement): Promise<PostgresResult> {
    return this.#withClient((client) => client.query(text, values === undefined ? undefined : [...values]));
  }

  async #withClient<Answer>(use: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    const client = await this.#connect();
    const ignore = (): void => undefined;
    // A connection that breaks while it is in use says so here too; the statement's own error is enough.
    client.on("error", ignore);
    let broken: Error | undefined;
    try {
      return await this.#inTime(use(client));
    } catch (error) {
      if (isConnectionLost(error) || error instanceof KernelError)
        broken = error instanceof Error ? error : new Error("lost");
      throw error;
    } finally {
      client.removeListener("error", ignore);
      client.release(broken);
    }
  }

  async #connect(): Promise<PostgresClient> {
    try {
      return await this.#inTime(this.#pool.connect(), (late) => late.release());
    } catch (cause) {
      throw new NeverSent(cause);
    }
  }

  /** Waits for an answer as long as a statement may take; `giveBack` gets one that comes too late. */
  #inTime<Answer>(answer: Promise<Answer>, giveBack?: (late: Answer) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const stopTimer = this.#clock.setTimer(this.#clock.now() + STATEMENT_TIMEOUT_MS, () => {
        isLate = true;
        const message = "The PostgreSQL journal did not answer in time.";
        reject(new KernelError("JOURNAL_UNAVAILABLE", message, { subject: ANSWER_LOST }));
      });
      answer.then(
        (value) => {
          stopTimer();
          if (isLate) giveBack?.(value);
          else resolve(value);
        },
        (error: unknown) => {
          stopTimer();
          reject(error);
        },
      );
    });
  }
}
