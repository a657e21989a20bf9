/** Plays one run by sessions of processes that die; each host tells its story from the start. */
import { type BatchResult, createToolSession, type ToolSession } from "toolkernel";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { type CrashPlan, draftOf } from "./crash-plans.ts";
import { answersOf, type CrashPlay, type CrashProcess, untilEnded } from "./crash-run.ts";
import { type Actor, CrashWorld } from "./crash-world.ts";
import { forgetTracked } from "./leftovers.ts";
import { type Fate, MortalStore } from "./mortal-store.ts";
import { trackedClock } from "./tracked.ts";

const MOST_ROUNDS = 60;
const jsonSchemaValidator = ajvValidator();

/** What the sessions came to: the result of every turn, as the last host had it. */
export interface CrashSession extends CrashPlay {
  readonly turns: readonly BatchResult[];
}

/** Plays a plan; every fate is a process of its own, and the last lives. */
export async function playSessionCrashes(plan: CrashPlan, fates: readonly Fate[] = plan.fates): Promise<CrashSession> {
  const world = new CrashWorld();
  const processes: (CrashProcess & { readonly settle: () => Promise<void>; readonly turns: readonly BatchResult[] })[] =
    [];
  let store = new MortalStore(fates[0]);
  for (;;) {
    processes.push(await live({ world, plan, store, number: processes.length }));
    if (!store.isDead) break;
    store = store.successor(fates[processes.length]);
  }
  for (const { settle } of processes) await settle();
  forgetTracked();
  return { plan, world, processes, turns: processes.at(-1)?.turns ?? [] };
}

interface Life {
  readonly world: CrashWorld;
  readonly plan: CrashPlan;
  readonly store: MortalStore;
  readonly number: number;
}

async function live({ world, plan, store, number }: Life) {
  const { clock, advance } = trackedClock(`process ${number}`);
  const actor: Actor = { number, isDead: () => store.isDead, sleep: () => store.hang(), say: () => undefined };
  const { limits, interpreter, toolExecution, uncertainWriteScope } = plan;
  const session = createToolSession({
    runId: "run",
    tools: world.tools(actor),
    hooks: world.hooks(actor),
    runStore: store,
    clock,
    jsonSchemaValidator,
    ...{ limits, interpreter, toolExecution, uncertainWriteScope },
  });
  const found = store.facts;
  const deedsBefore = world.deeds.length;
  const turns: BatchResult[] = [];
  for (const [place, calls] of plan.turns.entries()) {
    const response = calls.map((call, index) => ({ id: `c${index}`, name: call.tool, arguments: draftOf(call) }));
    const result = await execute(session, { response, turn: place + 1, store, advance });
    if (result === undefined) break;
    turns.push(result);
    if (result.closed) break;
  }
  if (!store.isDead)
    await untilEnded(
      session.close().then(() => true),
      store,
      advance,
    );
  const settle = async (): Promise<void> => {
    if (!store.isDead) return;
    store.wake();
    for (let round = 0; round < MOST_ROUNDS; round++) await advance(1_000);
  };
  return { store, found, deedsBefore, results: [], events: [], accepted: [], turns, settle };
}

interface Turn {
  readonly response: Parameters<ToolSession["execute"]>[0];
  readonly turn: number;
  readonly store: MortalStore;
  readonly advance: (ms: number) => Promise<void>;
}

/** Executes a response and answers what is asked; undefined when the process has died. */
async function execute(
  session: ToolSession,
  { response, turn, store, advance }: Turn,
): Promise<BatchResult | undefined> {
  const asked = await untilEnded(session.execute(response, { turn }).result, store, advance);
  if (asked?.approvals === undefined) return asked;
  const approvals = answersOf(asked.approvals);
  return untilEnded(session.execute(response, { turn, approvals }).result, store, advance);
}
