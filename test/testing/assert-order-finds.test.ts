import type { RecordedEvent } from "toolkernel";
import { assertOrder, RuleViolation } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  about,
  BOTH_KEYLESS,
  BOTH_PREPARED,
  blocked,
  ended,
  epoch,
  over,
  prepared,
  read,
  refused,
  started,
  told,
  write,
} from "../support/assert-order-scene.ts";

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
});
