import type { Finder, PlantedBug } from "./planted-bugs.ts";

/** The bugs of scheduling and of the drivers. */
export const CODE_BUGS: readonly PlantedBug[] = [
  inCode(
    "src/plan/lanes.ts",
    "a call that leaves its lanes wakes nobody",
    "EPOCH-5",
    ["explored", "paired"],
    (given) => ({
      leaveLanes: (...args: unknown[]) => {
        call(given.leaveLanes, args);
        return [];
      },
    }),
  ),
  inCode("src/plan/lanes.ts", "a call never leaves its lanes", "EPOCH-4", ["explored", "paired", "call"], () => ({
    leaveLanes: () => [],
  })),
  inCode("src/plan/lanes.ts", "keys keep nobody apart", "EPOCH-4", ["explored", "paired", "call"], () => ({
    headsItsLanes: () => true,
  })),
  inCode("src/plan/lanes.ts", "one free key of two is enough", "EPOCH-4", ["explored", "paired"], (given) => ({
    headsItsLanes: (lanes: unknown, entry: { readonly conflictKeys: readonly string[] }, nowMs: number) =>
      entry.conflictKeys.length === 0 ||
      entry.conflictKeys.some((key) => call(given.headsItsLanes, [lanes, asKeyed(entry, key), nowMs])),
  })),
  inCode(
    "src/plan/lanes.ts",
    "an abandoned write frees its keys at once",
    "EPOCH-8",
    ["explored", "paired"],
    (given) => ({
      holdLanes: (lanes: unknown, entry: unknown, hold: { readonly nowMs: number }) =>
        call(given.leaveLanes, [lanes, entry, hold.nowMs]),
    }),
  ),
  inCode(
    "src/plan/startable.ts",
    "an abandoned write without a key keeps nobody back",
    "EPOCH-8",
    ["explored", "paired"],
    (given) => ({
      isStartable: (later: unknown, conditions: object, now: unknown) =>
        call(given.isStartable, [later, { ...conditions, keylessHolds: new Set() }, now]),
    }),
  ),
  inCode(
    "src/plan/uncertain-writes.ts",
    "an uncertain write blocks nobody",
    "UNC-2",
    ["explored", "paired", "call"],
    () => ({
      findBlocker: () => undefined,
    }),
  ),
  inCode(
    "src/plan/uncertain-writes.ts",
    "an uncertain write without a key blocks nobody",
    "UNC-3",
    ["explored", "paired"],
    (given) => ({
      findBlocker: (later: unknown, uncertain: readonly { readonly conflictKeys: readonly string[] }[]) =>
        call(given.findBlocker, [later, uncertain.filter(({ conflictKeys }) => conflictKeys.length > 0)]),
    }),
  ),
  inCode("src/plan/uncertain-writes.ts", "reads are blocked too", "UNC-1", ["explored", "paired"], (given) => ({
    findBlocker: (later: object, uncertain: unknown) =>
      call(given.findBlocker, [{ ...later, isWrite: true }, uncertain]),
  })),
  inCode(
    "src/plan/plan-epochs.ts",
    "a barrier lets later calls join those before it",
    "EPOCH-2",
    ["explored", "paired"],
    () => ({
      planEpochs: planWithoutBarriers,
    }),
  ),
  inCode("src/plan/plan-epochs.ts", "every call is an epoch of its own", "EPOCH-2", ["paired", "explored"], () => ({
    planEpochs: (calls: readonly unknown[]) => calls.map((each) => [each]),
  })),
  inCode(
    "src/host/session-options.ts",
    "one call more than the cap is let in",
    "EPOCH-3",
    ["paired", "epoch"],
    (given) => ({
      readSessionOptions: (options: unknown) => withOneMore(call(given.readSessionOptions, [options])),
    }),
  ),
  inCode(
    "src/run/batch/ready-calls.ts",
    "ready calls start in the order in which they became so",
    "EPOCH-5",
    ["paired"],
    () => ({
      ReadyCalls: FirstComeFirstServed,
    }),
  ),
  inCode("src/run/call/lane-traffic.ts", "a slot is freed and the lane is not", "EPOCH-4", ["paired", "call"], () => ({
    releaseLanes: () => undefined,
  })),
  inCode("src/run/deadlines.ts", "a deadline cannot be taken back", "CAN-3", ["call"], (given) => ({
    Deadlines: class extends (given.Deadlines as new (clock: unknown) => object) {
      disarm(): void {}
    },
  })),
  inCode("src/settle/tool-messages.ts", "messages come in the order of completion", "EPOCH-6", ["paired"], (given) => ({
    toolMessages: (settled: readonly { readonly endedAtMs: number }[]) =>
      call(given.toolMessages, [[...settled].sort((one, other) => other.endedAtMs - one.endedAtMs)]),
  })),
  inCode("src/journal/judge-steps.ts", "an ended operation is executed again", "ACT-1", ["action"], (given) => ({
    judgeClaim: (stored: { readonly state?: string } | undefined, request: unknown) =>
      stored?.state === "committed" ? { kind: "take", from: "abandoned" } : call(given.judgeClaim, [stored, request]),
  })),
  inCode(
    "src/journal/judge-steps.ts",
    "an abandoned operation cannot be dispatched again",
    "ACT-2",
    ["action"],
    (given) => ({
      judgeClaim: (stored: { readonly state?: string } | undefined, request: unknown) =>
        stored?.state === "abandoned"
          ? { kind: "answer", answer: { kind: "withdrawn" } }
          : call(given.judgeClaim, [stored, request]),
    }),
  ),
  inCode("src/journal/judge-steps.ts", "a late receipt is thrown away", "ACT-6", ["action"], (given) => ({
    judgeFinish: (stored: { readonly state: string }, request: unknown) =>
      stored.state === "uncertain" ? "alreadySaved" : call(given.judgeFinish, [stored, request]),
  })),
];

type Exports = Readonly<Record<string, unknown>>;

function inCode(
  path: string,
  name: string,
  ...[rule, foundBy, alter]: readonly [string, readonly Finder[], (original: Exports) => Exports]
): PlantedBug {
  return { name, rule, foundBy, module: { path, alter: (original) => ({ ...original, ...alter(original) }) } };
}

function call(original: unknown, args: readonly unknown[]): never {
  return (original as (...given: readonly unknown[]) => never)(...args);
}

/** An entry that stands in one lane only; the lanes know it by being the same object, so its twin inherits. */
function asKeyed(entry: object, key: string): object {
  return new Proxy(entry, { get: (target, name) => (name === "conflictKeys" ? [key] : Reflect.get(target, name)) });
}

function planWithoutBarriers(
  calls: readonly { readonly tool: { readonly risk?: string } }[],
  mode: string,
): unknown[][] {
  const overlapping = calls.filter(
    ({ tool }) => mode === "parallel" || (mode !== "sequential" && tool.risk === "readOnly"),
  );
  const alone = calls.filter((each) => !overlapping.includes(each)).map((each) => [each]);
  return overlapping.length === 0 ? alone : [overlapping, ...alone];
}

function withOneMore(settings: { readonly limits: { readonly maxConcurrentTools: number } }): object {
  const { limits } = settings;
  return { ...settings, limits: { ...limits, maxConcurrentTools: limits.maxConcurrentTools + 1 } };
}

class FirstComeFirstServed<Call> {
  readonly #calls: Call[] = [];

  add(added: Call): void {
    this.#calls.push(added);
  }

  takeFirst(): Call | undefined {
    return this.#calls.shift();
  }

  delete(removed: Call): boolean {
    const place = this.#calls.indexOf(removed);
    if (place !== -1) this.#calls.splice(place, 1);
    return place !== -1;
  }

  [Symbol.iterator](): Iterator<Call> {
    return this.#calls.values();
  }
}
