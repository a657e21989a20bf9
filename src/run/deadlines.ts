/**
 * Every deadline of a session, on one timer of the clock.
 * Owns: a binary heap of deadlines and the one armed timer. Invariants: a live deadline runs once, not
 * before its time, in order of time and then of arming; with no live deadline no timer is armed.
 */
import type { Clock } from "../domain/ports.ts";

/** A deadline that can be taken back with {@link Deadlines.disarm}. */
export interface Deadline {
  readonly atMs: number;
  readonly order: number;
  /** Undefined once it has run or was taken back. */
  run: (() => void) | undefined;
}

/** See the file header. */
export class Deadlines {
  readonly #clock: Clock;
  #heap: Deadline[] = [];
  #live = 0;
  #order = 0;
  #armedAtMs = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a function once the clock has reached a time. */
  arm(atMs: number, run: () => void): Deadline {
    const deadline: Deadline = { atMs, order: this.#order++, run };
    this.#live += 1;
    this.#push(deadline);
    if (atMs < this.#armedAtMs) this.#setTimer(atMs);
    return deadline;
  }

  /** Takes a deadline back; nothing happens if it has run or was taken back before. */
  disarm(deadline: Deadline | undefined): void {
    if (deadline?.run === undefined) return;
    deadline.run = undefined;
    this.#live -= 1;
    if (this.#live === 0) this.#clear();
    else if (this.#heap.length > 64 && this.#heap.length > this.#live * 2) this.#compact();
  }

  #clear(): void {
    this.#heap = [];
    this.#armedAtMs = Number.POSITIVE_INFINITY;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #compact(): void {
    // A sorted array is a heap.
    this.#heap = this.#heap.filter((deadline) => deadline.run !== undefined).sort(compare);
  }

  #setTimer(atMs: number): void {
    this.#cancelTimer?.();
    this.#armedAtMs = atMs;
    this.#cancelTimer = this.#clock.setTimer(atMs, () => this.#runDue());
  }

  #runDue(): void {
    this.#cancelTimer = undefined;
    this.#armedAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.now();
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (first.run !== undefined && first.atMs > nowMs) break;
      this.#pop();
      const { run } = first;
      if (run === undefined) continue;
      first.run = undefined;
      this.#live -= 1;
      run();
    }
    const next = this.#heap[0];
    if (this.#live === 0) this.#clear();
    else if (next !== undefined && next.atMs < this.#armedAtMs) this.#setTimer(next.atMs);
  }

  #push(deadline: Deadline): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(deadline);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || compare(parent, deadline) <= 0) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = deadline;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[index * 2 + 1];
      const right = heap[index * 2 + 2];
      if (left === undefined) break;
      const isRightFirst = right !== undefined && compare(right, left) < 0;
      const child = isRightFirst ? right : left;
      if (compare(last, child) <= 0) break;
      heap[index] = child;
      index = index * 2 + (isRightFirst ? 2 : 1);
    }
    heap[index] = last;
  }
}

function compare(one: Deadline, other: Deadline): number {
  return one.atMs - other.atMs || one.order - other.order;
}
