/**
 * Where a call of the epoch that runs stands: in its lanes; at their heads, without a slot; with a slot,
 * its dispatch on the way; dispatched, or about to be, without a result; out of lanes and slots.
 */
export type CallStanding = "queued" | "ready" | "admitted" | "launched" | "gone";

/** The part of a call that says where it stands in its response. */
interface InSource {
  readonly callIndex: number;
}

/** Calls that only wait for a slot, in source order, which is the order in which they are taken (EPOCH-5). */
export class ReadyCalls<Call extends InSource> implements Iterable<Call> {
  readonly #calls: Call[] = [];

  /** Puts a call where it stands in source order. */
  add(call: Call): void {
    let low = 0;
    let high = this.#calls.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#calls[middle]?.callIndex ?? 0) < call.callIndex) low = middle + 1;
      else high = middle;
    }
    if (low === this.#calls.length) this.#calls.push(call);
    else this.#calls.splice(low, 0, call);
  }

  /** Takes the first out, if there is one. */
  takeFirst(): Call | undefined {
    return this.#calls.shift();
  }

  /** Takes a call out, wherever it stands; answers whether it was there. */
  delete(call: Call): boolean {
    const place = this.#calls.indexOf(call);
    if (place !== -1) this.#calls.splice(place, 1);
    return place !== -1;
  }

  [Symbol.iterator](): Iterator<Call> {
    return this.#calls.values();
  }
}
