/**
 * Steps that wait at the same time share one statement, and one commit of the database.
 * Owns: the steps that wait, and which are on their way. Invariants: at most two statements are on their
 * way; a step never overtakes one before it that names the same operation or scope, so that steps
 * submitted one after another take effect in that order; the database ends operations before it claims.
 */

/** A step to share a statement: what it names, and whom to tell. */
export interface BatchedStep<Payload, Answer> {
  readonly payload: Payload;
  /** Operation ids and scopes. */
  readonly names: readonly string[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_FLIGHTS = 2;
/**
 * How many microtasks a statement waits for company: enough for who is woken by a step, such as the next in
 * line for a key that a receipt frees, to ask for its own. Nothing that takes time fits between.
 */
const MICROTASKS = 16;
const MOST_STEPS = 512;

/**
 * See the file header. `send` answers in the order of the payloads, or rejects for all; `mayBeOne` says
 * whether an error had no effect and may be one step's fault.
 */
export class StepBatcher<Payload, Answer> {
  readonly #send: (payloads: readonly Payload[]) => Promise<readonly Answer[]>;
  readonly #mayBeOne: (error: unknown) => boolean;
  readonly #namesUnderWay = new Map<string, number>();
  #waiting: BatchedStep<Payload, Answer>[] = [];
  #flights = 0;
  #isScheduled = false;
  #whenIdle: (() => void)[] = [];

  constructor(
    send: (payloads: readonly Payload[]) => Promise<readonly Answer[]>,
    mayBeOne: (error: unknown) => boolean,
  ) {
    this.#send = send;
    this.#mayBeOne = mayBeOne;
  }

  /** Takes a step with the next statement that may carry it. */
  submit(payload: Payload, names: readonly string[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ payload, names, resolve, reject });
      this.#schedule();
    });
  }

  /** Whether nothing waits and nothing is on its way. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#flights === 0;
  }

  /** Resolves when nothing waits and nothing is on its way. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#flights === MOST_FLIGHTS) return;
    this.#isScheduled = true;
    void this.#gather();
  }

  /** Whatever is submitted by what runs just now, and by whom it wakes, goes along. */
  async #gather(): Promise<void> {
    for (let passed = 0; passed < MICROTASKS; passed += 1) await undefined;
    this.#isScheduled = false;
    const batch = this.#takeBatch();
    if (batch.length > 0) await this.#fly(batch);
  }

  #takeBatch(): BatchedStep<Payload, Answer>[] {
    const held = new Set<string>();
    const batch: BatchedStep<Payload, Answer>[] = [];
    const rest: BatchedStep<Payload, Answer>[] = [];
    for (const step of this.#waiting) {
      const mustWait =
        batch.length === MOST_STEPS || step.names.some((name) => held.has(name) || this.#namesUnderWay.has(name));
      if (mustWait) for (const name of step.names) held.add(name);
      (mustWait ? rest : batch).push(step);
    }
    this.#waiting = rest;
    return batch;
  }

  async #fly(batch: readonly BatchedStep<Payload, Answer>[]): Promise<void> {
    this.#flights += 1;
    for (const { names } of batch) for (const name of names) this.#count(name, 1);
    await this.#sendAll(batch);
    for (const { names } of batch) for (const name of names) this.#count(name, -1);
    this.#flights -= 1;
    if (this.#waiting.length > 0) this.#schedule();
    else if (this.#flights === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Sends steps together; when they are refused each by itself, so that only the one at fault fails. */
  async #sendAll(batch: readonly BatchedStep<Payload, Answer>[]): Promise<void> {
    try {
      const answers = await this.#send(batch.map(({ payload }) => payload));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer); // one for each payload
    } catch (error) {
      if (batch.length > 1 && this.#mayBeOne(error)) for (const step of batch) await this.#sendAll([step]);
      else for (const { reject } of batch) reject(error);
    }
  }

  #count(name: string, change: 1 | -1): void {
    const count = (this.#namesUnderWay.get(name) ?? 0) + change;
    if (count === 0) this.#namesUnderWay.delete(name);
    else this.#namesUnderWay.set(name, count);
  }
}
