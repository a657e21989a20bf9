/** What the kernel waits for while a path is followed, by name: each is asked for by the kernel and ended by the path. */
export class Waiting<Name extends string> {
  readonly #open = new Map<Name, { resolve(value: unknown): void; reject(error: unknown): void }>();

  /** A promise that waits for the path, in place of an earlier one of that name. */
  begin(name: Name): Promise<never> {
    return new Promise<never>((resolve, reject) => {
      this.#open.set(name, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Whether something of that name has been asked for and not ended. */
  has(name: Name): boolean {
    return this.#open.has(name);
  }

  /** Ends what waits under that name, if anything does. */
  resolve(name: Name, value?: unknown): void {
    this.#take(name)?.resolve(value);
  }

  /** Ends what waits under that name by a rejection, if anything does. */
  reject(name: Name, error: unknown): void {
    this.#take(name)?.reject(error);
  }

  /** Ends everything that waits. */
  resolveAll(value?: unknown): void {
    for (const name of [...this.#open.keys()]) this.resolve(name, value);
  }

  #take(name: Name) {
    const waiting = this.#open.get(name);
    this.#open.delete(name);
    return waiting;
  }
}

const MOST_TURNS = 20;

/** Waits for a promise that needs no further stimulus. @throws when it is not ended by then, or by a rejection. */
export async function endsSoon(promise: Promise<unknown>, settle: () => Promise<void>): Promise<void> {
  let end: "open" | "ended" | { readonly error: unknown } = "open";
  promise.then(
    () => {
      end = "ended";
    },
    (error: unknown) => {
      end = { error };
    },
  );
  for (let turn = 0; turn < MOST_TURNS && end === "open"; turn += 1) await settle();
  const found = end as typeof end | { readonly error: unknown }; // set behind the compiler's back
  if (found === "open") throw new Error("CAN-4: it never ends");
  if (typeof found === "object") throw found.error;
}
