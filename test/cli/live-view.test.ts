import { describe, expect, it } from "vitest";
import { eventLine } from "../../src/cli/event-line.ts";
import { createLiveView } from "../../src/cli/live-view.ts";
import { openScreen } from "../../src/cli/screen.ts";
import type { KernelEvent, KernelEventKind, KernelEventMap } from "../../src/domain/event.ts";

const ESCAPE = String.fromCharCode(27);

function event<Kind extends KernelEventKind>(kind: Kind, fields: KernelEventMap[Kind], turn = 1): KernelEvent {
  // True because a kind and the fields of that kind make an event; the compiler does not see the pair.
  return { kind, seq: 0, timeMs: 0, runId: "run", turn, audience: "internal", ...fields } as unknown as KernelEvent;
}

function call(index: number) {
  return { callId: `c${index}`, callIndex: index, toolName: "edit", operationId: `o${index}`, isWrite: true };
}

function waited(barrierMs: number, keyMs: number, queueMs: number) {
  return { epoch: 0, waitedMs: barrierMs + keyMs + queueMs, barrierMs, keyMs, queueMs };
}

function result(text: string, isError = true) {
  return { content: [{ type: "text" as const, text }], isError, outcomeUncertain: false, terminate: false };
}

function shown(
  events: readonly KernelEvent[],
  { isTerminal = false, isRecorded = false }: { isTerminal?: boolean; isRecorded?: boolean } = {},
): readonly string[] {
  const lines: string[] = [];
  const screen = openScreen({ write: (text) => void lines.push(text.trimEnd()), isTerminal, allowsColor: isTerminal });
  const view = createLiveView(screen, { workspace: "/w", callIdsOf: () => ["c0", "c1"], isRecorded });
  for (const each of events) {
    view(each);
  }
  return lines;
}

describe("the live view says what the kernel's events say", () => {
  it("an epoch names its calls, and who waits for which key", () => {
    const keys = [["file:/w/a"], ["file:/w/a"], [], ["file:/w/a", "file:/w/b"], ["file:/w/b"]];
    const lines = shown([
      ...keys.map((conflictKeys, index) => event("toolPrepared", { ...call(index), conflictKeys })),
      event("epochStarted", { epoch: 0, callIds: ["c0", "c1", "c2", "c3", "c4"] }),
      event("toolDispatched", { ...call(0), ...waited(0, 0, 0.4) }),
      event("toolProgressed", { ...call(0), update: { secret: 1 } }),
      event("toolEnded", {
        ...call(0),
        outcome: "succeeded",
        outcomeUncertain: false,
        durationMs: 12,
        result: result("x", false),
      }),
      event("toolDispatched", { ...call(1), ...waited(0, 12.4, 0) }),
      event("toolDispatched", { ...call(3), ...waited(1, 2, 3) }),
      event("epochSettled", { epoch: 0 }),
    ]);
    expect(lines).toEqual([
      "  epoch 0: #0-#4",
      "    #1 #3 wait for file:a, taken by #0",
      "    #4 waits for file:b, taken by #3",
      "  #0 edit starts",
      "  #0 edit reports progress",
      "  #0 edit succeeded in 12 ms",
      "  #1 edit starts after 12 ms for its key",
      "  #3 edit starts after 1 ms for its epoch, 2 ms for its key, 3 ms for a slot",
    ]);
  });

  it("what is refused or blocked is said once, with its reason", () => {
    const lines = shown([
      event("toolRefused", {
        ...call(0),
        failureCategory: "invalidArguments",
        reason: "not_executed: /path is missing",
      }),
      event("toolEnded", { ...call(0), outcome: "refused", outcomeUncertain: false, result: result("again") }),
      event("toolPrepared", { ...call(1), conflictKeys: [] }),
      event("toolEnded", {
        ...call(1),
        outcome: "uncertain",
        failureCategory: "timeout",
        outcomeUncertain: true,
        durationMs: 20_000,
        result: result("uncertain:\n  look \u001b[2Jfirst"),
      }),
      event("toolBlocked", { ...call(2), blockedBy: "c1" }),
      event("toolEnded", { ...call(2), outcome: "blocked", outcomeUncertain: false, result: result("again") }),
      event("toolEnded", {
        ...call(3),
        outcome: "failed",
        outcomeUncertain: false,
        durationMs: 1,
        result: result("y".repeat(200)),
      }),
      event("toolRepeatDetected", { ...call(4), action: "advisory", count: 3 }),
      event("toolLateSettled", { ...call(1), returned: true }),
    ]);
    expect(lines).toEqual([
      "  #0 edit refused (invalidArguments): not_executed: /path is missing",
      "  #1 edit uncertain (timeout) in 20.0 s: uncertain: look [2Jfirst",
      "  #2 edit blocked: nobody knows what became of #1",
      `  #3 edit failed in 1 ms: ${"y".repeat(160)}…`,
      "  #4 edit repeats itself, 3 times: advisory",
      "  #1 edit came back late; its result stands as it was",
    ]);
  });

  it("call ids of an earlier turn are forgotten", () => {
    const lines = shown([
      event("toolPrepared", { ...call(7), callId: "same", conflictKeys: ["k"] }),
      event("toolPrepared", { ...call(0), callId: "same", conflictKeys: [] }, 2),
      event("epochStarted", { epoch: 0, callIds: ["same"] }, 2),
    ]);
    expect(lines).toEqual(["  epoch 0: #0"]);
  });

  it("RUN-6: the calls of a resumed batch have their numbers, though nobody tells of them again", () => {
    const lines = shown([
      event("epochStarted", { epoch: 1, callIds: ["c1"] }),
      event("toolBlocked", { ...call(1), blockedBy: "c0", epoch: 1 }),
    ]);
    expect(lines).toEqual(["  epoch 1: #1", "  #1 edit blocked: nobody knows what became of #0"]);
  });

  it("RUN-6: what is recorded waits for that beside its slot", () => {
    const dispatched = [event("toolDispatched", { ...call(0), ...waited(0, 0, 17) })];
    expect(shown(dispatched)).toEqual(["  #0 edit starts after 17 ms for a slot"]);
    expect(shown(dispatched, { isRecorded: true })).toEqual(["  #0 edit starts after 17 ms for a slot and its record"]);
  });

  it("colours are for terminals alone", () => {
    const events = [
      event("toolEnded", { ...call(0), outcome: "succeeded", outcomeUncertain: false, result: result("", false) }),
    ];
    expect(shown(events, { isTerminal: true }).join("")).toContain(ESCAPE);
    expect(shown(events).join("")).not.toContain(ESCAPE);
  });
});

describe("an event as a line of JSON", () => {
  it("OBS-3: holds what happened and nothing that was given or answered", () => {
    const ended = event("toolEnded", {
      ...call(0),
      outcome: "failed",
      failureCategory: "unspecified",
      outcomeUncertain: false,
      durationMs: 3,
      result: result("secret answer"),
    });
    expect(JSON.parse(eventLine(ended))).toEqual({
      kind: "toolEnded",
      seq: 0,
      timeMs: 0,
      runId: "run",
      turn: 1,
      audience: "internal",
      callId: "c0",
      callIndex: 0,
      toolName: "edit",
      operationId: "o0",
      isWrite: true,
      outcome: "failed",
      failureCategory: "unspecified",
      outcomeUncertain: false,
      durationMs: 3,
    });
    const others = [
      event("toolProgressed", { ...call(0), update: "secret" }),
      event("approvalRequested", { ...call(0), approvalId: "a", ask: { words: "secret" } }),
      event("messageUpdated", { delta: { type: "text", text: "secret" } }),
      event("messageEnded", { message: { role: "user", content: "secret" } }),
    ];
    expect(others.map(eventLine).join("")).not.toContain("secret");
  });
});
