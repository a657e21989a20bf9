import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** One thing that happened in the world: a write began or was done, under which id, key and fence. */
export interface WorldEvent {
  readonly event: "begun" | "done";
  readonly operationId: string;
  readonly key: string;
  readonly fence: number;
  readonly processId: number;
  /** Monotonic and the same clock for all processes of the machine, in nanoseconds. */
  readonly atNs: string;
}

/**
 * The world that durable actions write to, as an append-only file: the judge of every crash test. It knows
 * nothing of the journal.
 */
export class World {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes something; one line is written as a whole, whoever else writes. */
  note(
    event: WorldEvent["event"],
    { operationId, key, fence }: Pick<WorldEvent, "operationId" | "key" | "fence">,
  ): void {
    const line: WorldEvent = {
      event,
      operationId,
      key,
      fence,
      processId: process.pid,
      atNs: String(process.hrtime.bigint()),
    };
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }

  /** Everything that happened, in order. */
  events(): WorldEvent[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as WorldEvent); // written by note
  }

  /** How often an operation's write was begun. */
  writesOf(operationId: string): number {
    return this.events().filter((each) => each.operationId === operationId && each.event === "begun").length;
  }

  /** Whether an operation's write was done. */
  isDone(operationId: string): boolean {
    return this.events().some((each) => each.operationId === operationId && each.event === "done");
  }
}

/** Every rule of the world that its events break: a second write, two at once on one key, a fence that fell. */
export function worldFaults(events: readonly WorldEvent[]): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  const running = new Map<string, string>();
  const fences = new Map<string, number>();
  const inOrder = [...events].sort((one, other) => (BigInt(one.atNs) < BigInt(other.atNs) ? -1 : 1));
  for (const { event, operationId, key, fence } of inOrder) {
    if (event === "done") {
      running.delete(key);
      continue;
    }
    if (seen.has(operationId)) faults.push(`${operationId} was written twice`);
    seen.add(operationId);
    if (key === "") continue;
    const other = running.get(key);
    if (other !== undefined) faults.push(`${operationId} and ${other} wrote ${key} at once`);
    running.set(key, operationId);
    if (fence <= (fences.get(key) ?? 0)) faults.push(`the fence of ${key} fell to ${fence}`);
    fences.set(key, fence);
  }
  return faults;
}
