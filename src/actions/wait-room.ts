/**
 * Where dispatches of one process wait for conflict scopes, or for another dispatch of the same id.
 * Owns: a line per scope, and the subscription to what the journal releases. Does not own: who gets a scope;
 * that is the journal's answer alone. Invariants: only the first of all its lines looks at the journal, so
 * that many waiters cost no more looks than one (ACT-4); whoever leaves lets the next look; every wait ends
 * by its deadline; while nobody is here it is not subscribed, so that the journal holds no dispatcher that is
 * let go.
 */
import type { Released } from "../domain/journal.ts";
import type { Clock } from "../domain/ports.ts";

/** Why a wait ended: look at the journal again, or stop waiting. */
export type WaitEnd = "look" | "deadline" | "cancelled";

/** Who waits, for what, and until when. */
export interface WaitRequest {
  readonly operationId: string;
  /** Ids of what it waits for. */
  readonly lines: readonly string[];
  readonly untilMs: number;
  readonly signal: AbortSignal | undefined;
  /** The room's {@link WaitRoom.news} before the journal said to wait; undefined: nobody has asked it yet. */
  readonly news?: number | undefined;
  /** How often to look without being told; undefined: never. */
  readonly poll: { readonly minMs: number; readonly maxMs: number } | undefined;
}

/** Has a listener told what is released; returns what ends that. */
export type Subscribe = (listener: (released: Released) => void) => () => void;

/** See the file header. */
export class WaitRoom {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Set<Place>>();
  readonly #places = new Map<string, Set<Place>>();
  readonly #subscribe: Subscribe;
  #unsubscribe = (): void => undefined;
  #visitors = 0;
  #news = 0;

  constructor(clock: Clock, subscribe: Subscribe) {
    this.#clock = clock;
    this.#subscribe = subscribe;
  }

  /** Comes in, and may have to wait: what is released is heard from now on, until {@link depart}. */
  arrive(): void {
    if (this.#visitors === 0) this.#unsubscribe = this.#subscribe((released) => this.wake(released));
    this.#visitors += 1;
  }

  /** See {@link arrive}. */
  depart(): void {
    this.#visitors -= 1;
    if (this.#visitors === 0) this.#unsubscribe();
  }

  /** How often something was released. */
  get news(): number {
    return this.#news;
  }

  /** Stands in line; leave it again, whatever happens. */
  enter(request: WaitRequest): Place {
    this.arrive();
    const place = new Place(this.#clock, request, () => this.#isFirst(place));
    for (const line of request.lines) addTo(this.#lines, line, place);
    addTo(this.#places, request.operationId, place);
    // What was released between the journal's answer and now found nobody in line; it is looked at once more.
    if (request.news !== undefined && request.news !== this.#news) place.wake();
    return place;
  }

  /** Leaves the line with what was waited for; those behind look when it is released. */
  leaveHolding(place: Place): void {
    const { lines, operationId } = place.request;
    removeFrom(this.#places, operationId, place);
    for (const line of lines) removeFrom(this.#lines, line, place);
    this.depart();
  }

  /** Leaves the line without it, and lets those behind look. */
  leave(place: Place): void {
    this.leaveHolding(place);
    this.#wakeFirst(place.request.lines);
  }

  /** Lets those look who are first in line for what was released, and whoever waits with that very id. */
  wake({ operationId, scopes }: Released): void {
    this.#news += 1;
    for (const place of this.#places.get(operationId) ?? []) place.wake();
    this.#wakeFirst(scopes);
  }

  #wakeFirst(lines: readonly string[]): void {
    for (const line of lines) {
      const [first] = this.#lines.get(line) ?? [];
      if (first !== undefined && this.#isFirst(first)) first.wake();
    }
  }

  #isFirst(place: Place): boolean {
    return place.request.lines.every((line) => {
      const [first] = this.#lines.get(line) ?? [];
      return first === place;
    });
  }
}

/** One waiter's place in its lines. */
export class Place {
  readonly request: WaitRequest;
  readonly #clock: Clock;
  readonly #isFirst: () => boolean;
  #looks = 0;
  #isWoken = false;
  #end: ((end: WaitEnd) => void) | undefined;

  constructor(clock: Clock, request: WaitRequest, isFirst: () => boolean) {
    this.#clock = clock;
    this.request = request;
    this.#isFirst = isFirst;
  }

  /** Waits for a reason to look, the deadline or the signal. One at a time. */
  next(): Promise<WaitEnd> {
    const { signal, untilMs } = this.request;
    if (signal?.aborted === true) return Promise.resolve("cancelled");
    if (this.#clock.now() >= untilMs) return Promise.resolve("deadline");
    if (this.#isWoken) {
      this.#isWoken = false;
      return Promise.resolve("look");
    }
    return new Promise((resolve) => {
      const cancel = (): void => this.#end?.("cancelled");
      const stopTimer = this.#setTimer(untilMs);
      this.#end = (end) => {
        this.#end = undefined;
        stopTimer();
        signal?.removeEventListener("abort", cancel);
        resolve(end);
      };
      signal?.addEventListener("abort", cancel);
    });
  }

  /** Ends the wait with "look", now or when it next begins. */
  wake(): void {
    if (this.#end === undefined) this.#isWoken = true;
    else this.#end("look");
  }

  #setTimer(untilMs: number): () => void {
    let stop = (): void => undefined;
    const arm = (): void => {
      const pollAtMs = this.#clock.now() + this.#pollDelayMs();
      stop =
        pollAtMs < untilMs
          ? this.#clock.setTimer(pollAtMs, () => (this.#isFirst() ? this.#end?.("look") : arm()))
          : this.#clock.setTimer(untilMs, () => this.#end?.("deadline"));
    };
    arm();
    return () => stop();
  }

  /** Grows from the least to the most, and is never the same for all: by the golden ratio, not by chance. */
  #pollDelayMs(): number {
    const { poll } = this.request;
    if (poll === undefined) return Number.POSITIVE_INFINITY;
    this.#looks += 1;
    const spread = 0.75 + 0.5 * ((this.#looks * GOLDEN) % 1);
    return Math.min(poll.maxMs, poll.minMs * 2 ** Math.min(this.#looks, 20)) * spread;
  }
}

const GOLDEN = 0.618_033_988_749_895;

function addTo(map: Map<string, Set<Place>>, key: string, place: Place): void {
  const places = map.get(key);
  if (places === undefined) map.set(key, new Set([place]));
  else places.add(place);
}

function removeFrom(map: Map<string, Set<Place>>, key: string, place: Place): void {
  const places = map.get(key);
  places?.delete(place);
  if (places?.size === 0) map.delete(key);
}
