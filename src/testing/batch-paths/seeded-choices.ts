/** Choices that look made by chance and are the same for the same seed. Owns: where the sequence stands. */
export class SeededChoices {
  #state: number;

  /** `seed`: any whole number. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** One of a list that has at least one. */
  pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item; // the place is in the list
  }

  /** The same items in another order. */
  shuffle<Item>(items: readonly Item[]): readonly Item[] {
    const rest = [...items];
    return items.map(() => rest.splice(this.#below(rest.length), 1)[0] as Item); // one is left for each
  }

  /** A whole number from 0 to below a bound. */
  #below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    // The low digits of such a sequence have short periods.
    const mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x45d9f3b) >>> 0;
    return Math.floor((mixed / 4_294_967_296) * bound);
  }
}
