import { createToolSession, type KernelEvent, type RecordedEvent, readJsonLines, recordJsonLines } from "toolkernel";
import { assertOrder, controllableTool, RuleViolation, simulatedClock } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import { ask, callPart, openAgentBench, say } from "../support/agent-bench.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Events of one turn from their kinds and fields, numbered in order. */
function told(...events: readonly (readonly [kind: string, fields?: Fields])[]): RecordedEvent[] {
  return events.map(([kind, fields], seq) => ({ kind, seq, timeMs: 1, runId: "run", turn: 1, ...fields }) as never);
}

const call = (index: number): Fields => ({
  callId: `c${index}`,
  callIndex: index,
  toolName: "t",
  operationId: `o${index}`,
});
const started = (index: number) => ["toolStarted", call(index)] as const;
const prepared = (index: number, ...conflictKeys: readonly string[]) =>
  ["toolPrepared", { ...call(index), conflictKeys }] as const;
const refused = (index: number) => ["toolRefused", { ...call(index), failureCategory: "internal" }] as const;
const epoch = (place: number, ...indices: readonly number[]) =>
  ["epochStarted", { epoch: place, callIds: indices.map((index) => `c${index}`) }] as const;
const over = (place: number) => ["epochSettled", { epoch: place }] as const;
const write = (index: number, place = 0) =>
  ["toolDispatched", { ...call(index), epoch: place, isWrite: true }] as const;
const read = (index: number, place = 0) =>
  ["toolDispatched", { ...call(index), epoch: place, isWrite: false }] as const;
const ended = (index: number, outcome = "succeeded", isWrite = true) =>
  ["toolEnded", { ...call(index), outcome, isWrite }] as const;
const blocked = (index: number, by: number) => ["toolBlocked", { ...call(index), blockedBy: `c${by}` }] as const;
const about = (kind: string, index: number) => [kind, call(index)] as const;

const BOTH_PREPARED = [started(0), prepared(0, "k"), started(1), prepared(1, "k")];
const BOTH_KEYLESS = [started(0), prepared(0), started(1), prepared(1)];

const BROKEN: readonly (readonly [rule: string, what: string, events: RecordedEvent[]])[] = [
  ["PREP-1", "a call is prepared behind a dispatch", told(started(0), prepared(0), epoch(0, 0), write(0), started(1))],
  [
    "PREP-1",
    "a call is done with preparing behind a dispatch",
    told(started(0), started(1), prepared(0), epoch(0, 0), write(0), prepared(1)),
  ],
  ["PREP-2", "a call is prepared before an earlier one", told(started(1), started(0))],
  ["PREP-6", "a refused call is dispatched", told(started(0), refused(0), epoch(0, 0), write(0))],
  [
    "PREP-6",
    "a refused call settles behind a dispatch",
    told(started(0), refused(0), started(1), prepared(1), epoch(0, 1), write(1), ended(0, "refused")),
  ],
  [
    "APP-1",
    "a person is asked while the batch runs",
    told(...BOTH_KEYLESS, epoch(0, 0, 1), write(0), about("approvalRequested", 1)),
  ],
  [
    "EPOCH-2",
    "an epoch starts before the former has settled",
    told(...BOTH_KEYLESS, epoch(0, 0), write(0), epoch(1, 1)),
  ],
  ["EPOCH-2", "epochs come out of order", told(epoch(1), over(1), epoch(0))],
  ["EPOCH-2", "an epoch settles without one of its calls", told(started(0), prepared(0), epoch(0, 0), over(0))],
  ["EPOCH-2", "an epoch settles twice", told(epoch(0), over(0), over(0))],
  ["EPOCH-2", "a call is dispatched outside of its epoch", told(...BOTH_KEYLESS, epoch(0, 0), write(1))],
  ["EPOCH-2", "a call is dispatched without an epoch", told(started(0), prepared(0), write(0))],
  ["EPOCH-4", "two calls that share a key run at once", told(...BOTH_PREPARED, epoch(0, 0, 1), read(0), read(1))],
  ["EPOCH-4", "of two calls that share a key the later starts first", told(...BOTH_PREPARED, epoch(0, 0, 1), read(1))],
  [
    "EPOCH-6",
    "messages come out of order",
    told(
      ["messageEnded", { message: { role: "toolResult", callIndex: 1 } }],
      ["messageEnded", { message: { role: "toolResult", callIndex: 0 } }],
    ),
  ],
  ["UNC-1", "a read is uncertain", told(started(0), prepared(0), epoch(0, 0), read(0), ended(0, "uncertain", false))],
  ["UNC-1", "a call that never ran is uncertain", told(started(0), prepared(0), ended(0, "uncertain"))],
  [
    "UNC-2",
    "a write runs behind an uncertain one of its key",
    told(...BOTH_PREPARED, epoch(0, 0, 1), write(0), ended(0, "uncertain"), write(1)),
  ],
  [
    "UNC-2",
    "a keyless write runs behind an uncertain one",
    told(
      started(0),
      prepared(0, "k"),
      started(1),
      prepared(1),
      epoch(0, 0),
      write(0),
      ended(0, "uncertain"),
      over(0),
      epoch(1, 1),
      write(1, 1),
    ),
  ],
  [
    "UNC-2",
    "a write is blocked by one that has not been lost",
    told(...BOTH_PREPARED, epoch(0, 0, 1), write(0), ended(0), blocked(1, 0)),
  ],
  [
    "UNC-2",
    "a write is blocked by one of another key",
    told(
      started(0),
      prepared(0, "k"),
      started(1),
      prepared(1, "j"),
      epoch(0, 0, 1),
      write(0),
      ended(0, "uncertain"),
      blocked(1, 0),
    ),
  ],
  [
    "UNC-3",
    "a write runs behind an uncertain one without a key",
    told(
      started(0),
      prepared(0),
      started(1),
      prepared(1, "k"),
      epoch(0, 0, 1),
      write(0),
      ended(0, "uncertain"),
      write(1),
    ),
  ],
  [
    "UNC-5",
    "a blocked call runs",
    told(...BOTH_PREPARED, epoch(0, 0, 1), write(0), ended(0, "uncertain"), blocked(1, 0), write(1)),
  ],
  [
    "UNC-5",
    "a running call is blocked",
    told(...BOTH_KEYLESS, epoch(0, 0, 1), write(0), write(1), ended(0, "uncertain"), blocked(1, 0)),
  ],
  ["UNC-5", "a call ends blocked by nobody", told(started(0), prepared(0), epoch(0, 0), ended(0, "blocked"))],
  [
    "CAN-1",
    "a call runs when another was cancelled before dispatch",
    told(...BOTH_KEYLESS, epoch(0, 0, 1), ended(0, "cancelled"), write(1)),
  ],
  [
    "CAN-2",
    "progress comes behind the end",
    told(started(0), prepared(0), epoch(0, 0), write(0), ended(0), about("toolProgressed", 0)),
  ],
  [
    "CAN-2",
    "a call settles late before it has settled",
    told(started(0), prepared(0), epoch(0, 0), write(0), about("toolLateSettled", 0)),
  ],
  ["CAN-4", "a call ends twice", told(started(0), prepared(0), epoch(0, 0), write(0), ended(0), ended(0))],
  ["CAN-4", "a call is dispatched twice", told(started(0), prepared(0), epoch(0, 0), write(0), write(0))],
  ["CAN-4", "a call succeeds that never ran", told(started(0), prepared(0), ended(0))],
  ["CAN-4", "a turn is over without a call's result", told(started(0), prepared(0), ["turnEnded", { toolCalls: 1 }])],
  [
    "CAN-4",
    "a run is over without a call's result",
    told(started(0), prepared(0), ["runEnded", { status: "aborted" }]),
  ],
  ["RUN-4", "something comes behind the end of the run", told(["runEnded", { status: "completed" }], ["turnStarted"])],
  [
    "OBS-1",
    "events come out of order",
    [...told(started(0), prepared(0), refused(0)).slice(1), ...told(started(0), started(1)).slice(1)],
  ],
];

describe("assertOrder", () => {
  it.each(BROKEN)("%s: finds that %s", (rule, _what, events) => {
    let found: unknown;
    try {
      assertOrder(events);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(RuleViolation);
    expect([(found as RuleViolation).rule, (found as Error).message.startsWith(`${rule}: `)]).toEqual([rule, true]);
  });

  it("lets pass what is right, and what cannot be known", () => {
    const resolved = about("toolUncertaintyResolved", 0);
    const right: readonly RecordedEvent[][] = [
      [],
      told(...BOTH_PREPARED, epoch(0, 0, 1), write(0), ended(0), write(1), ended(1), over(0), [
        "runEnded",
        { status: "completed" },
      ]),
      told(...BOTH_PREPARED, epoch(0, 0, 1), write(0), ended(0, "uncertain"), resolved, write(1), ended(1), over(0)),
      told(
        ...BOTH_PREPARED,
        epoch(0, 0, 1),
        write(0),
        ended(0, "uncertain"),
        blocked(1, 0),
        ended(1, "blocked"),
        over(0),
      ),
      told(...BOTH_KEYLESS, ["runEnded", { status: "awaitingApproval" }]),
      // Goes on in another process, which counts its events anew.
      [
        ...told(...BOTH_KEYLESS),
        ...told(["runResumed"], epoch(0, 0, 1), write(0), write(1), ended(1), ended(0), over(0)),
      ],
      // The blocker is of an earlier batch, or of a process that is gone.
      told(started(0), prepared(0, "k"), epoch(0, 0), blocked(0, 9), ended(0, "blocked"), over(0)),
      // Keys that were never told of keep nobody apart.
      told(started(0), started(1), epoch(0, 0, 1), read(0), read(1)),
      // Two runs of one recording.
      [...told(started(0)), ...told(started(0)).map((event) => ({ ...event, runId: "other" }))],
    ];
    for (const events of right) expect(() => assertOrder(events)).not.toThrow();
  });

  it("takes the events of a process that died in the middle of a batch, and of the one that went on with it", () => {
    const before = told(...BOTH_KEYLESS, epoch(0, 0, 1), write(0), write(1), ended(0));
    const resumed = (...events: readonly (readonly [kind: string, fields?: Fields])[]) =>
      told(["runResumed"], epoch(0, 1), ...events, over(0));
    const right: readonly RecordedEvent[][] = [
      // It runs again, is known to be lost, or was found out about; nobody is told again of what had settled.
      [...before, ...resumed(write(1), ended(1)), ...told(["turnEnded"])],
      [...before, ...resumed(ended(1, "uncertain"))],
      resumed(ended(1, "uncertain")),
      resumed(ended(1, "succeeded")),
      // Nothing had been recorded of its preparation.
      [...told(...BOTH_KEYLESS), ...told(["runResumed"], ...BOTH_KEYLESS, epoch(0, 0, 1), write(0), write(1))],
      // What ran when the other became uncertain runs again; nobody holds it back.
      [
        ...told(...BOTH_KEYLESS, epoch(0, 0, 1), write(0), write(1)),
        ...told(["runResumed"], epoch(0, 0, 1), ended(1, "uncertain"), write(0), ended(0), over(0)),
      ],
    ];
    for (const events of right) expect(() => assertOrder(events)).not.toThrow();
    const wrong = [...before, ...resumed(write(1), ended(1), ended(1))];
    expect(() => assertOrder(wrong)).toThrow("CAN-4");
    // What it prepares itself is held to the rules as ever.
    const anew = told(["runResumed"], started(0), prepared(0), epoch(0, 0), ended(0, "uncertain"));
    expect(() => assertOrder(anew)).toThrow("UNC-1");
  });

  it("takes the events of a real run, and the same from a recording, by the numbers of lanes", async () => {
    const lines: string[] = [];
    const bench = openAgentBench({
      script: [ask(callPart("read", "a"), callPart("read", "b")), say()],
      telemetry: recordJsonLines((line) => {
        lines.push(line);
      }),
    });
    const { events } = await bench.play();
    expect(() => assertOrder(events)).not.toThrow();
    const recorded = readJsonLines(lines);
    expect(recorded.length).toBe(events.length);
    expect(() => assertOrder(recorded)).not.toThrow();
    const late = recorded.findIndex(({ kind }) => kind === "toolDispatched");
    const tampered = [...recorded.slice(0, late), ...recorded.slice(late + 1)];
    expect(() => assertOrder(tampered)).toThrow("CAN-4: call 0 (a) has succeeded and was never dispatched");
  });

  it("finds by the numbers of lanes what it finds by keys", async () => {
    const lines: string[] = [];
    const { clock, advance } = simulatedClock();
    const tool = controllableTool({ name: "write", executionMode: "parallel", conflictKey: () => "k" });
    const telemetry = recordJsonLines((line) => {
      lines.push(line);
    });
    const session = createToolSession({ tools: [tool], runId: "run", clock, telemetry });
    const events: KernelEvent[] = [];
    const batch = session.execute([
      { id: "a", name: "write" },
      { id: "b", name: "write" },
    ]);
    batch.subscribe((event) => {
      events.push(event);
    });
    for (let turn = 0; turn < 2; turn += 1) {
      await advance(0);
      tool.pending[0]?.resolve("done");
    }
    await batch.result;
    await session.close();
    const recorded = readJsonLines(lines);
    const withoutEnd = recorded.filter((event) => !(event.kind === "toolEnded" && event.callIndex === 0));
    expect(() => assertOrder(recorded)).not.toThrow();
    expect(() => assertOrder(withoutEnd)).toThrow(
      "EPOCH-4: call 1 (b) was dispatched before call 0 (a), which shares a key, had settled",
    );
  });
});
