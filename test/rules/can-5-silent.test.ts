import { memoryRunStore, type RunClaim, type RunStore } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, callPart, openAgentBench, say } from "../support/agent-bench.ts";
import { openBench } from "../support/execution-bench.ts";
import { leaveChartsOpen } from "../support/leftovers.ts";
import { call, recordingTool } from "../support/run-calls.ts";

const STORE_TIMEOUT_MS = 10_000;
const never = () => new Promise<never>(() => undefined);

/** A store that stops answering: from an append on, when it is to give the run back, or from the first claim. */
function silentStore(silent: { readonly appendsBefore?: number; readonly release?: true; readonly claim?: true }) {
  const inner = memoryRunStore();
  let appends = 0;
  const claim: RunStore["claim"] = async (...given) => {
    if (silent.claim) return never();
    const held = await inner.claim(...given);
    const quiet: RunClaim = {
      runId: held.runId,
      facts: held.facts,
      release: () => (silent.release ? never() : held.release()),
      append: (...facts) => {
        appends += 1;
        return appends > (silent.appendsBefore ?? Number.POSITIVE_INFINITY) ? never() : held.append(...facts);
      },
    };
    return quiet;
  };
  return Object.assign(Object.create(inner) as RunStore, { claim });
}

const SCRIPT = () => [ask(callPart("read", "a")), say("done")];

describe("a run store that does not answer", () => {
  it.each([0, 1, 2, 3, 4, 5])("CAN-5: from record %i on ends the run as one that cannot be recorded", async (at) => {
    const runStore = silentStore({ appendsBefore: at });
    const bench = openAgentBench({ tools: [recordingTool().tool], script: SCRIPT(), runStore });
    const { run } = bench.start();
    await bench.advance(STORE_TIMEOUT_MS - 1);
    let result: { status: string; error?: unknown } | undefined;
    void run.result.then((ended) => {
      result = ended;
    });
    await bench.advance(0);
    expect(result).toBeUndefined();
    await bench.advance(STORE_TIMEOUT_MS);
    const { status, error } = await run.result;
    expect([status, error]).toEqual(["kernelError", expect.objectContaining({ code: "JOURNAL_UNAVAILABLE" })]);
    expect(bench.pendingTimers()).toBe(0);
  });

  it("CAN-1, CAN-5: lets an abort end the run", async () => {
    const runStore = silentStore({ appendsBefore: 3 });
    const bench = openAgentBench({ tools: [recordingTool().tool], script: SCRIPT(), runStore });
    const { run } = bench.start();
    await bench.advance();
    run.abort("stop");
    await bench.advance(2 * STORE_TIMEOUT_MS);
    expect((await run.result).status).toBe("kernelError");
    expect(bench.pendingTimers()).toBe(0);
  });

  it("RUN-4: when the run is given back keeps nobody waiting for its result", async () => {
    const runStore = silentStore({ release: true });
    const bench = openAgentBench({ tools: [recordingTool().tool], script: SCRIPT(), runStore });
    const { run } = bench.start();
    await bench.advance(2 * STORE_TIMEOUT_MS);
    expect((await run.result).status).toBe("completed");
    expect(bench.pendingTimers()).toBe(0);
  });

  it("RUN-6: when the run is claimed says so, of a run and of a session", async () => {
    const runStore = silentStore({ claim: true });
    const bench = openAgentBench({ tools: [recordingTool().tool], script: SCRIPT(), runStore });
    const { run } = bench.start();
    await bench.advance(STORE_TIMEOUT_MS);
    const { status, error } = await run.result;
    expect([status, error]).toEqual(["kernelError", expect.objectContaining({ code: "JOURNAL_UNAVAILABLE" })]);
    leaveChartsOpen();
    const { session, advance } = openBench({ tools: [recordingTool().tool], runStore });
    const refused = session.execute([call("read")]).result.catch((thrown: unknown) => thrown);
    await advance(STORE_TIMEOUT_MS);
    expect(await refused).toMatchObject({ code: "JOURNAL_UNAVAILABLE", subject: "runStore" });
  });

  it("RUN-6: whose claim comes after all gets it back", async () => {
    leaveChartsOpen();
    const inner = memoryRunStore();
    const answers: (() => void)[] = [];
    const claim: RunStore["claim"] = async (...given) => {
      const held = await inner.claim(...given);
      await new Promise<void>((resolve) => answers.push(resolve));
      return held;
    };
    const runStore = Object.assign(Object.create(inner) as RunStore, { claim });
    const bench = openAgentBench({ tools: [recordingTool().tool], script: SCRIPT(), runStore });
    const { run } = bench.start();
    await bench.advance(STORE_TIMEOUT_MS);
    await run.result.catch(() => undefined);
    for (const answer of answers) answer();
    await bench.advance();
    const again = await inner.claim("run", { create: true });
    await again.release();
  });
});
