/**
 * The world that the tools of W3 change, and the judge of what was done to it.
 * Owns: the things and their counts, who is at work, what overlapped. Judges by what really happened, not by
 * what a runtime says of itself.
 */
import type { BenchAnswer, BenchCall, BenchTool } from "../contender.ts";

interface Work {
  readonly id: string;
  readonly kind: BenchTool["kind"];
  /** What it reads, and puts back with one more. */
  readonly things: readonly string[];
}

/** What a run did to the world. */
export interface Damage {
  /** Pairs of calls with a common thing, neither of them a barrier, that were at work at the same time. */
  readonly keyOverlaps: number;
  /** Pairs of a barrier and any other call that were at work at the same time. */
  readonly barrierOverlaps: number;
  /** Changes that another call has overwritten. */
  readonly lostUpdates: number;
  /** Calls of the response without an answer. */
  readonly lostResults: number;
  /** Writes and barriers that were done although the model is told nothing of them, or that they failed. */
  readonly misreported: number;
}

/** See the file header. */
export class World {
  /** How long each call was at work, by its id: a timer is late by as much as the machine is busy. */
  readonly durationsMs = new Map<string, number>();
  #counts = new Map<string, number>();
  #atWork = new Set<Work>();
  #done: Work[] = [];
  #keyOverlaps = 0;
  #barrierOverlaps = 0;

  /** As if nothing had happened. */
  reset(): void {
    this.#counts = new Map();
    this.#atWork = new Set();
    this.#done = [];
    this.#keyOverlaps = 0;
    this.#barrierOverlaps = 0;
    this.durationsMs.clear();
  }

  /** Reads the things, takes its time, and puts back one more of each. */
  async work(work: Work, callMs: number): Promise<string> {
    for (const other of this.#atWork) this.#judge(work, other);
    this.#atWork.add(work);
    const startedMs = performance.now();
    const read = work.things.map((thing) => this.#counts.get(thing) ?? 0);
    await wait(callMs);
    for (const [place, thing] of work.things.entries()) this.#counts.set(thing, (read[place] ?? 0) + 1);
    this.#atWork.delete(work);
    this.#done.push(work);
    this.durationsMs.set(work.id, performance.now() - startedMs);
    return `${work.id} is done`;
  }

  /** Resolves when nobody is at work and nobody comes any more. */
  async settled(): Promise<void> {
    do await wait(1);
    while (this.#atWork.size > 0);
  }

  /** What was done, given what the model is told. */
  count(calls: readonly BenchCall[], answers: readonly BenchAnswer[]): Damage {
    const told = new Map(answers.map((answer) => [answer.id, answer]));
    const changes = this.#done.reduce((sum, { things }) => sum + things.length, 0);
    const kept = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return {
      keyOverlaps: this.#keyOverlaps,
      barrierOverlaps: this.#barrierOverlaps,
      lostUpdates: changes - kept,
      lostResults: calls.filter(({ id }) => !told.has(id)).length,
      misreported: this.#done.filter(({ id, kind }) => kind !== "read" && !isAdmitted(told.get(id))).length,
    };
  }

  #judge(one: Work, other: Work): void {
    if (one.kind === "barrier" || other.kind === "barrier") this.#barrierOverlaps += 1;
    else if (one.things.some((thing) => other.things.includes(thing))) this.#keyOverlaps += 1;
  }
}

/** Whether a model could know from an answer that the call may have happened. */
function isAdmitted(answer: BenchAnswer | undefined): boolean {
  return answer !== undefined && (!answer.isError || /unknown|may have happened/.test(answer.text));
}

/** Resolves when the time is over. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
