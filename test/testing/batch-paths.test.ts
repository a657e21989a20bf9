import { type AnyTool, defineTool, type ToolCall } from "toolkernel";
import { generateBatchPaths, type PathStep } from "toolkernel/testing";
import { describe, expect, it } from "vitest";

function callOf(name: string, id: string, args: ToolCall["arguments"] = {}): ToolCall {
  return { id, name, arguments: args };
}

/** A world of accounts, and tools that work in it. */
function openBank() {
  const ledger: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    inputSchema: { type: "object" },
    executionMode: "parallel",
    conflictKey: ({ account }) => `account:${String(account)}`,
    execute: async (_args, { callId }) => {
      await Promise.resolve();
      ledger.push(callId);
      return "paid";
    },
  });
  const read = defineTool({
    name: "read",
    description: "Reads.",
    inputSchema: { type: "object" },
    risk: "readOnly",
    execute: () => ledger.length,
  });
  return { ledger, tools: [pay, read] as readonly AnyTool[] };
}

describe("generateBatchPaths", () => {
  it("gives every path of a small batch, each once, under a name of its own", () => {
    const { tools } = openBank();
    const calls = [callOf("pay", "a", { account: "anna" }), callOf("read", "b")];
    const names = [...generateBatchPaths({ tools, calls })].map(({ name }) => name);
    // Five outcomes of each, two orders, two ways of working, no cancellation or one after none to two calls.
    expect(names).toHaveLength(5 * 5 * 2 * 2 * 4);
    expect(new Set(names).size).toBe(names.length);
    expect(names.slice(0, 5)).toEqual([
      "pay succeeds, read succeeds; in order 1 2, working at once",
      "pay succeeds, read succeeds; in order 1 2, working at once; cancelled after 0",
      "pay succeeds, read succeeds; in order 1 2, working at once; cancelled after 1",
      "pay succeeds, read succeeds; in order 1 2, working at once; cancelled after 2",
      "pay succeeds, read succeeds; in order 1 2, working in turn",
    ]);
  });

  it("of too many paths gives as many as are wanted, alike for a seed, with every single fault and cancellation", () => {
    const { tools } = openBank();
    const calls = ["a", "b", "c", "d"].map((id) => callOf("pay", id, { account: id }));
    const namesOf = (seed: number): string[] =>
      [...generateBatchPaths({ tools, calls, maxPaths: 200, seed })].map(({ name }) => name);
    const names = namesOf(1);
    expect(new Set(names).size).toBe(200);
    expect(namesOf(1)).toEqual(names);
    expect(namesOf(2)).not.toEqual(names);
    expect(names).toContain(
      "pay succeeds, pay succeeds, pay throwsAfter, pay succeeds; in order 1 2 3 4, working at once",
    );
    for (const place of [0, 1, 2, 3, 4]) {
      const plain = "pay succeeds, pay succeeds, pay succeeds, pay succeeds; in order 1 2 3 4, working in turn";
      expect(names).toContain(`${plain}; cancelled after ${place}`);
    }
    expect([...generateBatchPaths({ tools, calls })]).toHaveLength(1_000);
  });

  it("gives only the outcomes and cancellations that are wanted", () => {
    const { tools } = openBank();
    const calls = [callOf("pay", "a")];
    const paths = generateBatchPaths({ tools, calls, outcomes: ["fails", "throwsAfter"], cancel: false });
    expect([...paths].map(({ name }) => name)).toEqual(["pay fails", "pay throwsAfter"]);
  });

  it.each([
    ["tools", { tools: undefined }],
    ["calls", { calls: [] }],
    ["outcomes", { outcomes: ["vanishes"] }],
    ["outcomes", { outcomes: [] }],
    ["maxPaths", { maxPaths: 0 }],
    ["seed", { seed: 1.5 }],
    ["session", { session: null }],
    ["session.clock", { session: { clock: {} } }],
  ])("refuses %s that are none: %j", (subject, wrong) => {
    const given = { tools: openBank().tools, calls: [callOf("pay", "a")], ...wrong };
    expect(() => generateBatchPaths(given as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", subject }),
    );
  });
});

describe("a path", () => {
  it("runs the tools' own bodies: what succeeded has happened, what failed has not, every fault is told apart", async () => {
    const { ledger, tools } = openBank();
    const calls = [callOf("pay", "a", { account: "anna" }), callOf("pay", "b", { account: "anna" })];
    const told = new Map<string, Set<string>>();
    for (const path of generateBatchPaths({ tools, calls })) {
      const { settled } = await path.run({ setup: () => ledger.splice(0) });
      for (const { call, outcome } of settled) {
        const fault = path.name.split(", ")[Number(call.id === "b")]?.split(" ")[1]?.replace(";", "") ?? "";
        const isCancelled = path.name.includes("cancelled");
        const what = `${outcome}${ledger.includes(call.id) ? ", happened" : ""}`;
        if (!isCancelled) told.set(fault, (told.get(fault) ?? new Set()).add(what));
        expect([path.name, call.id, ledger.filter((id) => id === call.id).length]).toEqual([
          path.name,
          call.id,
          ledger.includes(call.id) ? 1 : 0,
        ]);
      }
    }
    expect(Object.fromEntries([...told].map(([fault, whats]) => [fault, [...whats].sort()]))).toEqual({
      succeeds: ["blocked", "succeeded, happened"],
      fails: ["blocked", "failed"],
      throwsBefore: ["blocked", "uncertain"],
      throwsAfter: ["blocked", "uncertain, happened"],
      timesOutAfter: ["blocked", "uncertain, happened"],
    });
  });

  it("tells the host of every step, with what runs then", async () => {
    const { tools } = openBank();
    const calls = [callOf("read", "a"), callOf("read", "b"), callOf("read", "c")];
    const paths = generateBatchPaths({
      tools,
      calls,
      outcomes: ["succeeds"],
      session: { limits: { maxConcurrentTools: 2 } },
    });
    const path = [...paths].find(({ name }) => name.includes("in order 2 3 1, working in turn; cancelled after 1"));
    const steps: string[] = [];
    const check = ({ what, callId, running }: PathStep): void => {
      steps.push([what, ...(callId === undefined ? [] : [callId]), `[${running.join()}]`].join(" "));
    };
    await path?.run({ check });
    // The third is let in when the second has ended, and then all that runs is told to stop.
    expect(steps).toEqual([
      "started [a,b]",
      "letGo b [a,c]",
      "cancelled [a,c]",
      "letGo c [a]",
      "letGo a []",
      "ended []",
    ]);
  });

  it("finds an effect that a tool hides: a body that says nothing happened, and something has", async () => {
    const world = { sent: 0 };
    const send = defineTool({
      name: "send",
      description: "Says that a throw means failure, which is not true behind the send.",
      inputSchema: { type: "object" },
      throwMeans: "failed",
      execute: () => {
        world.sent += 1;
        return "sent";
      },
    });
    const faults: string[] = [];
    for (const path of generateBatchPaths({ tools: [send], calls: [callOf("send", "a")], cancel: false })) {
      const check = ({ what, events }: PathStep): void => {
        const hasFailed = events.some((event) => event.kind === "toolEnded" && event.outcome === "failed");
        if (what === "ended" && hasFailed && world.sent > 0) throw new Error("failed, and was sent");
      };
      await path.run({ setup: () => (world.sent = 0), check }).catch(() => faults.push(path.name));
    }
    expect(faults).toEqual(["send throwsAfter"]);
  });

  it("finds a lost update: two calls that work on one thing at once, without a key in common", async () => {
    const world = { text: "" };
    const append = defineTool({
      name: "append",
      description: "Reads, waits, writes.",
      inputSchema: { type: "object" },
      executionMode: "parallel",
      conflictKey: (_args) => `call:${Math.max(0, world.text.length)}`,
      execute: async (_args, { callId }) => {
        const before = world.text;
        await Promise.resolve();
        world.text = before + callId;
      },
    });
    const keyless = { ...append, conflictKey: ({ id }: { readonly id?: unknown }) => `call:${String(id)}` } as AnyTool;
    const calls = [callOf("append", "a", { id: 1 }), callOf("append", "b", { id: 2 })];
    const faults: string[] = [];
    for (const path of generateBatchPaths({ tools: [keyless], calls, outcomes: ["succeeds"], cancel: false })) {
      await path.run({ setup: () => (world.text = "") });
      if (world.text.length !== 2) faults.push(path.name);
    }
    expect(faults).toEqual([
      "append succeeds, append succeeds; in order 1 2, working at once",
      "append succeeds, append succeeds; in order 2 1, working at once",
    ]);
  });
});
