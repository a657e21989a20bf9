import { KernelError, readJsonLines, recordJsonLines, type Telemetry } from "toolkernel";
import { describe, expect, it } from "vitest";
import { LaneNumbers } from "../../src/observe/lane-numbers.ts";
import { traceEvent } from "../../src/observe/trace-event.ts";
import { fullEvent, KINDS } from "./sample-events.ts";

const HEADER = '{"format":"toolkernel.trace","version":1}\n';

function record(use: (telemetry: Telemetry) => void = () => undefined): string[] {
  const lines: string[] = [];
  use(recordJsonLines((line) => lines.push(line)));
  return lines;
}

function recordAll(telemetry: Telemetry): void {
  const lanes = new LaneNumbers();
  for (const kind of KINDS) telemetry.record(traceEvent(fullEvent(kind), { lanes, wantsConflictKeys: false }));
}

describe("OBS-3: recordJsonLines", () => {
  it("writes format and version first, then one record a line", () => {
    const lines = record((telemetry) => {
      telemetry.record({ name: "kernel.runstarted", timeMs: 5, runId: "r", attributes: { seq: 0, turn: 0 } });
    });
    expect(lines).toEqual([
      HEADER,
      '{"name":"kernel.runstarted","timeMs":5,"runId":"r","attributes":{"seq":0,"turn":0}}\n',
    ]);
  });

  it("asks for conflict keys only when the host does", () => {
    const asks = (options?: { conflictKeys?: boolean | undefined }) =>
      recordJsonLines(() => undefined, options).wantsConflictKeys;
    expect([asks(), asks({}), asks({ conflictKeys: undefined }), asks({ conflictKeys: true })]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});

describe("OBS-3: readJsonLines", () => {
  it("gives back the events of a recording, less what was never recorded", () => {
    const events = readJsonLines(record(recordAll));
    expect(events.map(({ kind }) => kind)).toEqual(KINDS);
    expect(events.find(({ kind }) => kind === "toolRefused")).toEqual({
      kind: "toolRefused",
      seq: 7,
      timeMs: 1_000,
      runId: "run-1",
      turn: 4,
      callId: "call-1",
      callIndex: 2,
      toolName: "edit",
      operationId: "op-1",
      epoch: 3,
      failureCategory: "authorization",
    });
  });

  it("reads one text, lines with or without their ends, and recordings one after another alike", () => {
    const lines = record(recordAll);
    const events = readJsonLines(lines);
    expect(readJsonLines(lines.join(""))).toEqual(events);
    expect(readJsonLines(lines.join("\n"))).toEqual(events);
    expect(readJsonLines(lines.map((line) => line.trim()))).toEqual(events);
    expect(readJsonLines([...lines, ...lines])).toEqual([...events, ...events]);
  });

  it("leaves out records that are of no event", () => {
    const other = { name: "kernel.listenerdropped", timeMs: 1, runId: "r", attributes: { error: "TypeError" } };
    expect(readJsonLines(record((telemetry) => telemetry.record(other)))).toEqual([]);
  });

  it("leaves out a last line that was torn off, as a process leaves it that ends while it writes", () => {
    const text = record(recordAll).join("");
    expect(readJsonLines(text.slice(0, -20))).toEqual(readJsonLines(text).slice(0, -1));
  });

  const good = '{"name":"kernel.runstarted","timeMs":5,"runId":"r","attributes":{"seq":0,"turn":0}}\n';
  it.each([
    ["no first line", good, "Line 1 of the recording does not begin a recording of format toolkernel.trace"],
    ["another format", '{"format":"other","version":1}\n', "Line 1 of the recording does not begin a recording"],
    ["a version to come", '{"format":"toolkernel.trace","version":2}\n', "is of a version this reader does not know"],
    ["a damaged line in the middle", `${HEADER}{"na\n${good}`, "Line 2 of the recording is not a trace record"],
    ["a line that is no record", `${HEADER}${good}7\n`, "Line 3 of the recording is not a trace record"],
    [
      "a record without a time",
      `${HEADER}${good.replace("5", '"5"')}`,
      "Line 2 of the recording is not a trace record",
    ],
    ["a record without a turn", `${HEADER}${good.replace('"turn"', '"t"')}`, "has no valid attribute turn"],
  ])("refuses %s and names the place", (_what, text, message) => {
    const read = () => readJsonLines(text);
    expect(read).toThrow(KernelError);
    expect(read).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", message: expect.stringContaining(message) }),
    );
  });

  it("refuses a record whose attributes are not those of its event", () => {
    const lanes = new LaneNumbers();
    const faults = KINDS.flatMap((kind) => {
      const whole = traceEvent(fullEvent(kind), { lanes, wantsConflictKeys: true });
      return Object.keys(whole.attributes).map((name) => {
        const attributes = { ...whole.attributes, [name]: name === "epoch" ? "?" : null };
        const lines = record((telemetry) => telemetry.record({ ...whole, attributes }));
        return { name, read: () => readJsonLines(lines) };
      });
    });
    expect(faults.length).toBeGreaterThan(100);
    for (const { name, read } of faults) expect(read).toThrow(`has no valid attribute ${name}`);
  });
});
