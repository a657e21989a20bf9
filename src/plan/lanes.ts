/**
 * Lanes: one queue per conflict key, in order of arrival.
 * Owns: the queues of a {@link Lanes} value and the standing of each entry in them.
 * Does not own: slots (the epoch's), time (given), who is told (the caller reads what is returned).
 * Invariants: an entry stands in the queue of each of its keys from the moment it joins until it leaves;
 * it takes all its keys at once or none (EPOCH-4); a held entry lets reads pass and keeps writes back
 * until its time is over (EPOCH-8). Deterministic: no clock, no chance.
 */

/** One call in the lanes. Mutable in `hasLeft` and `heldUntilMs`, which only this file writes. */
export interface LaneEntry {
  readonly conflictKeys: readonly string[];
  readonly isWrite: boolean;
  hasLeft: boolean;
  /** Set while an abandoned write keeps its keys; milliseconds since the epoch. */
  heldUntilMs: number | undefined;
}

interface LaneQueue<Entry> {
  entries: Entry[];
  head: number;
}

/**
 * The lanes that several sessions of a process may share: equal keys of all of them exclude each other,
 * in order of arrival (EPOCH-9). Opaque; made by {@link createLanes}.
 */
export interface Lanes<Entry extends LaneEntry = LaneEntry> {
  /** @internal Queues by conflict key; a key without an entry has no queue. */
  readonly queues: Map<string, LaneQueue<Entry>>;
  /** @internal Entries that have been held and have not left. */
  readonly held: Set<Entry>;
}

/** Makes lanes without any entry; hand the same to several sessions to make their keys exclude each other. */
export function createLanes<Entry extends LaneEntry = LaneEntry>(): Lanes<Entry> {
  return { queues: new Map(), held: new Set() };
}

/** Puts an entry at the end of the queue of each of its keys. */
export function joinLanes<Entry extends LaneEntry>(lanes: Lanes<Entry>, entry: Entry): void {
  for (const key of entry.conflictKeys) {
    const queue = lanes.queues.get(key);
    if (queue === undefined) lanes.queues.set(key, { entries: [entry], head: 0 });
    else queue.entries.push(entry);
  }
}

/** Whether an entry heads the queue of each of its keys, so that it could take them all now (EPOCH-4). */
export function headsItsLanes<Entry extends LaneEntry>(lanes: Lanes<Entry>, entry: Entry, nowMs: number): boolean {
  return entry.conflictKeys.every((key) => {
    const queue = lanes.queues.get(key);
    return queue !== undefined && headsQueue(queue, entry, nowMs);
  });
}

/**
 * Takes an entry out of all its lanes, wherever it stands, and returns the entries that may have become
 * startable by it: the next of each queue, each once.
 */
export function leaveLanes<Entry extends LaneEntry>(lanes: Lanes<Entry>, entry: Entry, nowMs: number): Entry[] {
  entry.hasLeft = true;
  entry.heldUntilMs = undefined;
  lanes.held.delete(entry);
  return nextInLine(lanes, entry, nowMs);
}

/**
 * Keeps the keys of an abandoned write against later writes until a time (EPOCH-8), and returns the
 * entries that may have become startable by it: reads next in line.
 */
export function holdLanes<Entry extends LaneEntry>(
  lanes: Lanes<Entry>,
  entry: Entry,
  hold: { readonly untilMs: number; readonly nowMs: number },
): Entry[] {
  forgetOverHolds(lanes, hold.nowMs);
  entry.heldUntilMs = hold.untilMs;
  if (entry.conflictKeys.length > 0) lanes.held.add(entry);
  return nextInLine(lanes, entry, hold.nowMs);
}

/**
 * When the first hold on a key of these waiting entries is over; undefined when no hold is on any. Whoever
 * held a key had it before all that wait for it, so a hold stands in front of each of them.
 */
export function firstHoldEnd<Entry extends LaneEntry>(
  lanes: Lanes<Entry>,
  waiting: readonly Entry[],
  nowMs: number,
): number | undefined {
  if (lanes.held.size === 0) return undefined;
  const endsMs = holdEnds(lanes, nowMs);
  let firstMs: number | undefined;
  for (const { conflictKeys } of waiting) {
    for (const key of conflictKeys) {
      const endMs = endsMs.get(key);
      if (endMs !== undefined) firstMs = Math.min(firstMs ?? endMs, endMs);
    }
  }
  return firstMs;
}

/** When the first hold on each held key is over; forgets holds that are over already. */
function holdEnds<Entry extends LaneEntry>(lanes: Lanes<Entry>, nowMs: number): Map<string, number> {
  forgetOverHolds(lanes, nowMs);
  const endsMs = new Map<string, number>();
  for (const { heldUntilMs = 0, conflictKeys } of lanes.held) {
    for (const key of conflictKeys) endsMs.set(key, Math.min(endsMs.get(key) ?? heldUntilMs, heldUntilMs));
  }
  return endsMs;
}

/**
 * Takes out holders whose time is over. They are in nobody's way; but where nobody ever comes for their keys
 * again, lanes that are shared for long would keep them, and their sessions, for ever.
 */
function forgetOverHolds<Entry extends LaneEntry>(lanes: Lanes<Entry>, nowMs: number): void {
  for (const holder of lanes.held) if (!isLiveHold(holder, nowMs)) leaveLanes(lanes, holder, nowMs);
}

function headsQueue<Entry extends LaneEntry>(queue: LaneQueue<Entry>, entry: Entry, nowMs: number): boolean {
  for (let index = queue.head; index < queue.entries.length; index++) {
    const other = queue.entries[index];
    if (other === entry) return true;
    if (other === undefined || other.hasLeft || isOverHold(other, nowMs)) continue;
    if (isLiveHold(other, nowMs) && !entry.isWrite) continue;
    return false;
  }
  return false;
}

/** The entries that could now be the head of a queue that `entry` stands or stood in. */
function nextInLine<Entry extends LaneEntry>(lanes: Lanes<Entry>, entry: Entry, nowMs: number): Entry[] {
  const next: Entry[] = [];
  for (const key of entry.conflictKeys) {
    const queue = lanes.queues.get(key);
    if (queue === undefined) continue;
    dropLeft(lanes, queue, nowMs);
    if (queue.head === queue.entries.length) {
      lanes.queues.delete(key);
      continue;
    }
    const candidate = firstUnheld(queue, nowMs);
    if (candidate !== undefined && !next.includes(candidate)) next.push(candidate);
  }
  return next;
}

function firstUnheld<Entry extends LaneEntry>(queue: LaneQueue<Entry>, nowMs: number): Entry | undefined {
  for (let index = queue.head; index < queue.entries.length; index++) {
    const entry = queue.entries[index];
    if (entry !== undefined && !entry.hasLeft && !isLiveHold(entry, nowMs) && !isOverHold(entry, nowMs)) return entry;
  }
  return undefined;
}

/** Moves the head past entries that have left, and gives their places back now and then. */
function dropLeft<Entry extends LaneEntry>(lanes: Lanes<Entry>, queue: LaneQueue<Entry>, nowMs: number): void {
  for (let first = queue.entries[queue.head]; first !== undefined; first = queue.entries[queue.head]) {
    if (!first.hasLeft && !isOverHold(first, nowMs)) break;
    lanes.held.delete(first);
    queue.head += 1;
  }
  if (queue.head < 32 || queue.head * 2 < queue.entries.length) return;
  queue.entries = queue.entries.slice(queue.head);
  queue.head = 0;
}

function isLiveHold(entry: LaneEntry, nowMs: number): boolean {
  return !entry.hasLeft && entry.heldUntilMs !== undefined && nowMs < entry.heldUntilMs;
}

function isOverHold(entry: LaneEntry, nowMs: number): boolean {
  return entry.heldUntilMs !== undefined && nowMs >= entry.heldUntilMs;
}
