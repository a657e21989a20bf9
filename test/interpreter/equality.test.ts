import fc from "fast-check";
import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import { describe, expect, test } from "vitest";
import { type AnyStateMachine, assign, createActor, type EventObject, emit, setup } from "xstate";
import { compileChart } from "../../src/interpreter/compile-chart.ts";
import { CompiledActor } from "../../src/interpreter/compiled-actor.ts";

interface Case {
  readonly machine: AnyStateMachine;
  readonly inputs: readonly object[];
  /** Events with payload, beside one bare event of every type the chart names. */
  readonly events: readonly PayloadEvent[];
}

type PayloadEvent = EventObject & Readonly<Record<string, unknown>>;

const flags = [true, false];
const turnFacts = {
  hasCalls: true,
  hasModelFailed: false,
  closedBy: undefined,
  shouldStop: false,
  hasSteering: false,
  hasFollowUp: false,
};

const CASES: Readonly<Record<string, Case>> = {
  toolCall: {
    machine: toolCallMachine,
    inputs: flags.flatMap((isWrite) =>
      flags.flatMap((throwIsUncertain) =>
        flags.map((canRecover) => ({ callId: "c", isWrite, throwIsUncertain, canRecover })),
      ),
    ),
    events: [],
  },
  epoch: { machine: epochMachine, inputs: [1, 2, 3].map((calls) => ({ epoch: 0, calls })), events: [] },
  batch: {
    machine: batchMachine,
    inputs: [{ turn: 1, calls: 3 }],
    events: [0, 2].flatMap((undecided) => [
      { type: "PREPARED", undecided },
      { type: "DECIDED", undecided },
      { type: "PLANNED", epochs: undecided },
    ]),
  },
  run: {
    machine: runMachine,
    inputs: [{ runId: "r" }],
    events: [
      { type: "LIMIT_REACHED", limit: "maxTurns" },
      { type: "RESPONDED", hasCalls: true },
      { type: "MODEL_FAILED", endedBy: "modelTimeout" },
      { type: "TURN_OVER", ...turnFacts },
      ...["projectionFailed", "exactToolRepeat", "allTerminate", "maxToolCalls"].map((closedBy) => ({
        type: "TURN_OVER",
        ...turnFacts,
        closedBy,
      })),
      ...["hasModelFailed", "shouldStop", "hasSteering", "hasFollowUp"].map((fact) => ({
        type: "TURN_OVER",
        ...turnFacts,
        hasCalls: false,
        [fact]: true,
      })),
    ],
  },
  action: { machine: actionMachine, inputs: [{}], events: [] },
};

/** What an actor of either kind shows from outside. */
interface Shown {
  readonly value: unknown;
  readonly context: unknown;
  readonly status: string;
  readonly output: unknown;
}

/** Both interpreters side by side on the same events; each log holds all that was seen, in order. */
function startBoth(machine: AnyStateMachine, input: object) {
  const plainLog: unknown[] = [];
  const compiledLog: unknown[] = [];
  const types = machine.events.filter((type) => !type.startsWith("xstate."));
  const plain = createActor(machine, { input } as never);
  plain.on("*", (emitted) => plainLog.push(["emitted", emitted, plain.getSnapshot().value]));
  plain.subscribe({
    next: (snapshot) => plainLog.push(["next", snapshot.value, snapshot.context]),
    complete: () => plainLog.push(["complete"]),
    error: (error) => plainLog.push(["error", error]),
  });
  const compiled: CompiledActor = new CompiledActor(compileChart(machine), {
    id: "compiled",
    input,
    driver: {
      perform: (emitted) => compiledLog.push(["emitted", emitted, compiled.getSnapshot().value]),
    },
  });
  compiled.subscribe({
    next: (snapshot) => compiledLog.push(["next", snapshot.value, snapshot.context]),
    complete: () => compiledLog.push(["complete"]),
  });
  plain.start();
  compiled.start();
  const where = ({ value, context, status, output }: Shown) => ({ value, context, status, output });
  const canTake = (snapshot: { can(event: never): boolean }) => types.filter((type) => snapshot.can({ type } as never));
  return {
    send(event: EventObject): void {
      if (plain.getSnapshot().status === "active") plain.send(event as never);
      compiled.send(event);
    },
    /** Compares all that both have shown, and ends them; answers where they are. */
    compare({ isNew }: { readonly isNew: (place: string) => boolean }): boolean {
      const place = where(plain.getSnapshot());
      expect(where(compiled.getSnapshot())).toEqual(place);
      expect(compiledLog).toEqual(plainLog);
      const isActive = plain.getSnapshot().status === "active";
      const isFirst = isActive && isNew(JSON.stringify(place));
      // What can be taken follows from where it is, and asking is slow.
      if (isFirst) expect(canTake(compiled.getSnapshot())).toEqual(canTake(plain.getSnapshot()));
      plain.stop();
      return isFirst;
    },
  };
}

function eventsOf({ machine, events }: Case): readonly EventObject[] {
  const types = machine.events.filter((type) => !type.startsWith("xstate."));
  return [...types.map((type) => ({ type })), ...events, { type: "NOT_AN_EVENT_OF_ANY_CHART" }];
}

describe.each(Object.entries(CASES))("the compiled %s chart", (_name, chart) => {
  test("shows the same as XState after every event in every state", () => {
    const events = eventsOf(chart);
    let pairs = 0;
    for (const input of chart.inputs) {
      const seen = new Set<string>();
      const open: EventObject[][] = [[]];
      for (let path = open.shift(); path !== undefined; path = open.shift()) {
        for (const event of events) {
          const both = startBoth(chart.machine, input);
          for (const earlier of path) both.send(earlier);
          both.send(event);
          pairs += 1;
          const isNew = (place: string) => !seen.has(place) && seen.add(place) !== undefined;
          if (both.compare({ isNew })) open.push([...path, event]);
        }
      }
      expect(seen.size).toBeGreaterThan(0);
    }
    expect(pairs).toBeGreaterThan(0);
  }, 120_000);

  test("shows the same as XState on random walks", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...chart.inputs),
        fc.array(fc.constantFrom(...eventsOf(chart)), { maxLength: 40 }),
        (input, walk) => {
          const both = startBoth(chart.machine, input);
          for (const event of walk) both.send(event);
          both.compare({ isNew: () => true });
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("what cannot be compiled is refused by the state's name", () => {
  const build = setup({ actions: { custom: () => undefined, note: assign({}), tell: emit({ type: "told" }) } });
  test.each([
    ["parallel regions", build.createMachine({ id: "m", type: "parallel", states: { a: {}, b: {} } }), "m"],
    [
      "an invoked actor",
      build.createMachine({ id: "m", initial: "a", states: { a: { invoke: { src: "x" } as never } } }),
      "m.a",
    ],
    [
      "a delayed transition",
      build.createMachine({ id: "m", initial: "a", states: { a: { after: { 5: "b" } }, b: {} } }),
      "m.a",
    ],
    [
      "an eventless transition",
      build.createMachine({ id: "m", initial: "a", states: { a: { always: "b" }, b: {} } }),
      "m.a",
    ],
    [
      "a history state",
      build.createMachine({ id: "m", initial: "a", states: { a: {}, h: { type: "history" } } }),
      "m.h",
    ],
    [
      "a wildcard event",
      build.createMachine({ id: "m", initial: "a", states: { a: { on: { "*": "b" } }, b: {} } }),
      "m.a",
    ],
    [
      "an action other than assign and emit (custom)",
      build.createMachine({ id: "m", initial: "a", states: { a: { entry: "custom" } } }),
      "m.a",
    ],
  ])("%s", (what, machine, state) => {
    expect(() => compileChart(machine)).toThrow(`Cannot compile the chart: state ${state} has ${what}.`);
  });
});
