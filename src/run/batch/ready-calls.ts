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
export class ReadyCalls<Call extends InSource> {
  readonly #calls: Call[] = [];
  /** Where the first stands; those before it have been taken. To move all others up each time would cost. */
  #first = 0;

  /** Puts a call where it stands in source order. */
  add(call: Call): void {
    let low = this.#first;
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
    const call = this.#calls[this.#first];
    if (call === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#calls.length) {
      this.#calls.length = 0;
      this.#first = 0;
    }
    return call;
  }

  /** Takes a call out, wherever it stands; returns whether it was there. */
  delete(call: Call): boolean {
    const index = this.#calls.indexOf(call, this.#first);
    if (index !== -1) this.#calls.splice(index, 1);
    return index !== -1;
  }
}
