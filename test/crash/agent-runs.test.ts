import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../src/domain/message.ts";
import { findTranscriptFaults } from "../support/valid-transcript.ts";
import type { AgentOrders, AgentSaid } from "./agent-child.ts";
import { rounds } from "./long-runs.ts";
import { buildProgram, spawnProgram } from "./spawn-program.ts";
import { openRuns } from "./store.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

beforeAll(() => buildProgram("agent-child"));
afterAll(dropDatabase);

type Result = NonNullable<AgentSaid["result"]>;

async function live(site: CrashSite, life: Pick<AgentOrders, "isResumed" | "crash">): Promise<AgentSaid | undefined> {
  const orders: AgentOrders = { store: site.store, worldPath: site.worldPath, ...life };
  const program = spawnProgram<AgentSaid>({ name: "agent-child", orders });
  const ending = await program.ended;
  expect(ending).toBe(life.crash === null || program.said.length > 0 ? 0 : "SIGKILL");
  return program.said.at(-1);
}

/** Resolves when the run of a dead process can be taken; false when nothing was recorded of it. */
async function isLeft(site: CrashSite): Promise<boolean> {
  const store = await openRuns(site.store);
  let facts = 0;
  const taken = async (): Promise<string> => {
    try {
      const claim = await store.claim("run", { create: false });
      facts = claim.facts.length;
      await claim.release();
      return "taken";
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };
  await expect.poll(taken, { timeout: 10_000 }).toBe("taken");
  await store.close();
  return facts > 0;
}

/** Every way in which what the model was told is not what the world saw. */
function faultsOf({ status, endedBy, messages }: Result, world: World): string[] {
  const faults = [...worldFaults(world.events()), ...findTranscriptFaults(messages)];
  if (status !== "completed" || endedBy !== "noCalls") faults.push(`it ended ${status} ${String(endedBy)}`);
  const results = messages.filter((message) => message.role === "toolResult");
  const certain = results.filter(
    ({ toolName, isError, outcomeUncertain }) => toolName !== "look" && !isError && !outcomeUncertain,
  );
  const uncertain = results.filter(({ outcomeUncertain }) => outcomeUncertain);
  const written = new Set(world.events().map(({ operationId }) => operationId)).size;
  if (written < certain.length) faults.push(`${certain.length} writes were told of, and ${written} made`);
  if (written > certain.length + uncertain.length)
    faults.push(`${written} writes were made, and ${certain.length} told of`);
  if (results.length !== 6) faults.push(`${results.length} results`);
  return faults;
}

function toolTexts(messages: readonly Message[]): unknown[] {
  return messages.map((message) =>
    message.role === "toolResult" ? [message.toolName, message.isError, message.outcomeUncertain] : message.role,
  );
}

describe.each(STORES)("a process that dies while its Agent runs, on %s", (kind) => {
  it("RUN-6, ACT-1: at every record of the run: another process goes on, no write is made twice, none is kept secret", {
    timeout: rounds(180_000, 600_000),
  }, async () => {
    const whole = await makeSite(kind);
    const undisturbed = await live(whole, { isResumed: false, crash: null });
    const appends = undisturbed?.appends ?? 0;
    expect(appends).toBeGreaterThan(8);
    await whole.remove();
    const step = rounds(kind === "sqlite" ? 4 : 8, 1);
    let uninterrupted = 0;
    for (let at = 0; at < appends; at += step) {
      for (const when of ["before", "after"] as const) {
        const site = await makeSite(kind);
        expect(await live(site, { isResumed: false, crash: { at, when } })).toBeUndefined();
        const isResumed = await isLeft(site);
        const said = await live(site, { isResumed, crash: null });
        const result = said?.result ?? { status: "kernelError", messages: [] };
        expect({ at, when, faults: faultsOf(result, new World(site.worldPath)) }).toEqual({ at, when, faults: [] });
        const texts = JSON.stringify(toolTexts(result.messages));
        if (texts === JSON.stringify(toolTexts(undisturbed?.result?.messages ?? []))) uninterrupted += 1;
        await site.remove();
      }
    }
    // Most crash points leave nothing in doubt.
    expect(uninterrupted).toBeGreaterThan(appends / step / 2);
  });
});
