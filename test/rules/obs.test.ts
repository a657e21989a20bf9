import {
  audienceFilter,
  type KernelEvent,
  readJsonLines,
  recordJsonLines,
  type Telemetry,
  type ToolSessionOptions,
} from "toolkernel";
import { describe, expect, it } from "vitest";
import { keyedTool, openBench, runningCall } from "../support/execution-bench.ts";
import { draft, OTHER_SECRET, runTelltales, SECRET, TELLTALES } from "../support/obs-scene.ts";
import { call, finish, testSession } from "../support/run-calls.ts";

const HOOKS: ToolSessionOptions["hooks"] = {
  authorizeToolCall: ({ call: { name } }) => (name === "ask" ? { ask: { why: SECRET } } : undefined),
};

describe("OBS-2: of a whole run", () => {
  it("an owner sees what was said, the public how far it is, and neither anything of tools", async () => {
    const { events } = await runTelltales();
    const seenBy = (viewer: "internal" | "owner" | "public") => events.filter(audienceFilter(viewer));
    const kinds = (viewer: "owner" | "public") => seenBy(viewer).map(({ kind }) => kind);
    const [owner, everybody] = [kinds("owner"), kinds("public")];
    expect(seenBy("internal")).toEqual(events);
    expect(everybody).toEqual([
      "runStarted",
      "turnStarted",
      "modelRequestStarted",
      "turnEnded",
      "turnStarted",
      "modelRequestStarted",
      "turnEnded",
      "runEnded",
    ]);
    expect(owner).toEqual([
      "runStarted",
      "messageEnded",
      "turnStarted",
      "modelRequestStarted",
      "messageStarted",
      "messageUpdated",
      "turnEnded",
      "turnStarted",
      "modelRequestStarted",
      "messageStarted",
      "messageUpdated",
      "messageEnded",
      "turnEnded",
      "runEnded",
    ]);
  });

  it("nobody but internal viewers is told a secret of arguments, results, details or reasons", async () => {
    const { events } = await runTelltales();
    const holdsSecret = (event: KernelEvent) =>
      [SECRET, OTHER_SECRET].some((text) => JSON.stringify(event).includes(text));
    expect(events.filter(holdsSecret).length).toBeGreaterThan(5);
    expect(events.filter(audienceFilter("owner")).filter(holdsSecret)).toEqual([]);
  });
});

describe("OBS-3: a recording", () => {
  /** A session that goes through every telling tool, a repeat and an approval, and an Agent; all recorded. */
  async function record(options: { readonly conflictKeys?: boolean } = {}): Promise<string> {
    const lines: string[] = [];
    const telemetry = recordJsonLines((line) => lines.push(line), options);
    const limits = { exactToolRepeatAdvisoryThreshold: 2, exactToolRepeatTerminationThreshold: 3 };
    const session = testSession({ tools: TELLTALES, hooks: HOOKS, telemetry, limits, runId: "session" });
    const calls = ["tell", "tell", "tell", "fail", "refuse", "ask"].map((name, index) => {
      return call(name, draft, `call-${index}`);
    });
    const { result } = await finish(session.execute(calls));
    const [approval] = result.approvals ?? [];
    await session.execute(calls, { turn: 1, approvals: { [String(approval?.approvalId)]: { block: SECRET } } }).result;
    await session.close();
    await runTelltales(telemetry);
    return lines.join("");
  }

  it("of everything that can happen to a call holds no secret of anybody", async () => {
    const text = await record();
    const names = new Set(text.match(/(?<=")kernel\.\w+/g));
    expect([...names].sort()).toEqual([
      "kernel.approvalrequested",
      "kernel.epochsettled",
      "kernel.epochstarted",
      "kernel.messageended",
      "kernel.messagestarted",
      "kernel.messageupdated",
      "kernel.modelrequeststarted",
      "kernel.runended",
      "kernel.runstarted",
      "kernel.tooldispatched",
      "kernel.toolended",
      "kernel.toolprepared",
      "kernel.toolprogressed",
      "kernel.toolrefused",
      "kernel.toolrepeatdetected",
      "kernel.toolstarted",
      "kernel.turnended",
      "kernel.turnstarted",
    ]);
    expect([SECRET, OTHER_SECRET].filter((secret) => text.includes(secret))).toEqual([]);
  });

  it("holds conflict keys where the host asks for them, and nothing else of a call then", async () => {
    const text = await record({ conflictKeys: true });
    expect(text.replaceAll(`"conflictKeys":["key-${SECRET}"]`, "")).not.toContain(SECRET);
    expect(text).toContain(`"conflictKeys":["key-${SECRET}"]`);
  });

  it("tells which calls share a lane over all batches of a run, and which epoch each call is of", async () => {
    const lines: string[] = [];
    const read = keyedTool({ name: "read", risk: "readOnly" });
    const bench = openBench({ tools: [read], telemetry: recordJsonLines((line) => lines.push(line)) });
    for (const [first, second] of [
      ["x", "y"],
      ["y", "z"],
    ] as const) {
      const running = await bench.start([
        call("read", { keys: [first] }, "a"),
        call("read", { keys: [first, second] }, "b"),
      ]);
      runningCall(read, 0).resolve();
      await bench.advance();
      runningCall(read, 1).resolve();
      await running.result;
    }
    await bench.session.close();
    const events = readJsonLines(lines);
    expect(events.flatMap((event) => (event.kind === "toolPrepared" ? [event.lanes] : []))).toEqual([
      [0],
      [0, 1],
      [1],
      [1, 2],
    ]);
    expect(events.flatMap((event) => (event.kind === "epochStarted" ? [event.callIds] : []))).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index));
  });

  it("goes on when the sink throws, and the run does not notice", async () => {
    const telemetry: Telemetry = {
      record: () => {
        throw new Error("the disk is full");
      },
    };
    const session = testSession({ tools: TELLTALES, telemetry });
    const { settled } = await session.execute([call("tell", draft)]).result;
    await session.close();
    expect(settled.map(({ outcome }) => outcome)).toEqual(["succeeded"]);
  });
});
