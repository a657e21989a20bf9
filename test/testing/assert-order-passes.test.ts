import type { RecordedEvent } from "toolkernel";
import { assertOrder } from "toolkernel/testing";
import { describe, expect, it } from "vitest";
import {
  about,
  BOTH_KEYLESS,
  BOTH_PREPARED,
  blocked,
  ended,
  epoch,
  type Fields,
  over,
  prepared,
  read,
  started,
  told,
  write,
} from "../support/assert-order-scene.ts";

describe("assertOrder", () => {
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

  it("knows that a blocker may be of another batch whose call has the same id: PREP-9, UNC-6", () => {
    const inTurn = (turn: number, from: number, ...events: readonly (readonly [kind: string, fields?: Fields])[]) =>
      told(...events).map((event) => ({ ...event, turn, seq: event.seq + from }) as never);
    const lost = [started(0), prepared(0, "k"), epoch(0, 0), write(0), ended(0, "uncertain"), over(0)];
    const reused = (key: string) => [
      ...[started(0), prepared(0, "other"), started(1), prepared(1, key), epoch(0, 0, 1)],
      ...[write(0), ended(0), blocked(1, 0), ended(1, "blocked"), over(0)],
    ];
    expect(() => assertOrder([...inTurn(1, 0, ...lost), ...inTurn(2, 10, ...reused("k"))])).not.toThrow();
    // Of one batch alone: what was before it is not known.
    expect(() => assertOrder(inTurn(2, 10, ...reused("k")))).not.toThrow();
    const wrong = [...inTurn(1, 0, ...lost), ...inTurn(2, 10, ...reused("another"))];
    expect(() => assertOrder(wrong)).toThrow(expect.objectContaining({ rule: "UNC-2" }));
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
});
