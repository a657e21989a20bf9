/** Numbers that look drawn by chance and are the same for the same seed. */
export class SeededRandom {
  #state: number;

  /** `seed`: any whole number. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to below a bound. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  /** True so often of a hundred times. */
  percent(chance: number): boolean {
    return this.below(100) < chance;
  }

  /** One of a list that has at least one. */
  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item; // the place is in the list
  }

  // Mulberry32.
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** The seed of this run: `MODEL_SEED`, or one that is always the same. */
export function readSeed(): number {
  const given = Number(process.env.MODEL_SEED ?? "1");
  if (!Number.isSafeInteger(given)) throw new Error("MODEL_SEED must be a whole number");
  return given;
}
