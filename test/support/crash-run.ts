/** Plays one run through processes that die, and wakes the dead when it is over. */
import {
  Agent,
  type Approval,
  type ApprovalDecisions,
  KernelError,
  type KernelEvent,
  type Message,
  type ModelProvider,
  type Run,
  type RunFact,
  type RunResult,
} from "toolkernel";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { ask, callPart, say } from "./agent-bench.ts";
import { type CrashPlan, draftOf } from "./crash-plans.ts";
import { type Actor, CrashWorld } from "./crash-world.ts";
import { forgetTracked } from "./leftovers.ts";
import { type Fate, MortalStore } from "./mortal-store.ts";
import { trackedClock } from "./tracked.ts";

const MOST_ROUNDS = 60;
const jsonSchemaValidator = ajvValidator();

/** A process that had a hand in the run. */
export interface CrashProcess {
  readonly store: MortalStore;
  /** What was durable when it began. */
  readonly found: readonly RunFact[];
  /** How much had been done in the world when it began. */
  readonly deedsBefore: number;
  /** What it was told each time its run came to an end: by the last only, unless it waited for approvals. */
  readonly results: readonly RunResult[];
  /** Everything it told, in order. */
  readonly events: readonly KernelEvent[];
  /** Texts that it accepted. */
  readonly accepted: readonly string[];
}

/** What was done, by which processes. */
export interface CrashPlay {
  readonly plan: CrashPlan;
  readonly world: CrashWorld;
  readonly processes: readonly CrashProcess[];
}

/** What a run through several processes came to. */
export interface CrashRun extends CrashPlay {
  readonly final: RunResult;
  readonly requests: readonly (readonly Message[])[];
}

interface Life {
  readonly world: CrashWorld;
  readonly plan: CrashPlan;
  readonly requests: (readonly Message[])[];
}

/** Plays a plan; every fate is a process of its own, and the last lives. */
export async function playCrashes(plan: CrashPlan, fates: readonly Fate[] = plan.fates): Promise<CrashRun> {
  const life: Life = { world: new CrashWorld(), plan, requests: [] };
  const processes: (CrashProcess & { readonly settle: () => Promise<void> })[] = [];
  let store = new MortalStore(fates[0]);
  for (;;) {
    const lived = await live(life, store, processes.length);
    processes.push(lived);
    if (!store.isDead && !hasLostStore(lived)) break;
    store = store.successor(fates[processes.length]);
  }
  const before = life.world.deeds.length;
  for (const { settle } of processes) await settle();
  // What ran may end, and may be asked about.
  const late = life.world.deeds.slice(before).filter(({ what }) => what !== "done" && what !== "recover");
  if (late.length > 0) throw new Error(`a process that had slept went on: ${JSON.stringify(late)}`);
  const final = processes.at(-1)?.results.at(-1);
  if (final === undefined) throw new Error("nobody came to an end");
  // Whoever gave a run back that waits has left its batch as it was: the next process makes its own.
  forgetTracked();
  return { plan, world: life.world, processes, final, requests: life.requests };
}

function hasLostStore({ results }: CrashProcess): boolean {
  const { error } = results.at(-1) ?? {};
  return error instanceof KernelError && error.code === "JOURNAL_UNAVAILABLE";
}

/** Resumes the ended run in one more process; answers what it was told. */
export async function resumeEnded({ world, plan, processes }: CrashRun): Promise<RunResult | undefined> {
  const store = processes.at(-1)?.store.successor() ?? new MortalStore();
  const { results } = await live({ world, plan, requests: [] }, store, processes.length);
  forgetTracked(); // its chart has nothing to begin
  return results.at(-1);
}

async function live({ world, plan, requests }: Life, store: MortalStore, number: number) {
  const { clock, advance } = trackedClock(`process ${number}`);
  const accepted: string[] = [];
  let run: Run | undefined;
  const actor: Actor = {
    number,
    isDead: () => store.isDead,
    sleep: () => store.hang(),
    say: (how) => {
      const text = `${how} of ${number}.${accepted.length}`;
      if (run?.[how](text).accepted === true) accepted.push(text);
    },
  };
  const { limits, interpreter, toolExecution, uncertainWriteScope } = plan;
  const agent = new Agent({
    model: modelOf(plan, requests),
    tools: world.tools(actor),
    hooks: world.hooks(actor),
    runStore: store,
    clock,
    jsonSchemaValidator,
    ...{ limits, interpreter, toolExecution, uncertainWriteScope },
  });
  const found = store.facts;
  const deedsBefore = world.deeds.length;
  const results: RunResult[] = [];
  const events: KernelEvent[] = [];
  const settling: Promise<unknown>[] = [];
  run = found.length === 0 ? agent.run("go", { runId: "run" }) : agent.resume("run");
  for (let round = 0; ; round++) {
    if (round > MOST_ROUNDS) throw new Error("the run does not end");
    run.subscribe((event) => {
      if (!store.isDead) events.push(event);
    });
    const { result } = run;
    settling.push(result);
    const ended = await untilEnded(result, store, advance);
    if (ended === undefined) break;
    results.push(ended);
    if (ended.approvals === undefined) break;
    run = agent.resume("run", { approvals: answersOf(ended.approvals) });
  }
  const settle = async (): Promise<void> => {
    if (!store.isDead) return;
    store.wake();
    for (let round = 0; round < MOST_ROUNDS; round++) await advance(1_000);
    await Promise.all(settling);
  };
  return { store, found, deedsBefore, results, events, accepted, settle };
}

/** Moves time until something has ended; undefined when its process has died. */
export async function untilEnded<Result>(
  result: Promise<Result>,
  store: MortalStore,
  advance: (ms: number) => Promise<void>,
) {
  let ended: Result | undefined;
  let failure: unknown;
  result.then(
    (given) => {
      ended = given;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  for (let round = 0; ended === undefined && !store.isDead; round++) {
    if (round > MOST_ROUNDS) throw new Error("the run neither ends nor dies");
    await advance(20);
    if (failure !== undefined && !store.isDead) throw failure;
  }
  return store.isDead ? undefined : ended;
}

function modelOf({ turns }: CrashPlan, requests: (readonly Message[])[]): ModelProvider {
  return {
    generate: async ({ turn, messages }) => {
      requests.push([...messages]);
      const calls = turns[turn - 1];
      if (calls === undefined) return say(`turn ${turn}`, { inputTokens: 1, outputTokens: 1, totalTokens: 2 });
      return ask(...calls.map((call, index) => callPart(call.tool, `c${index}`, draftOf(call))));
    },
  };
}

/** The same decisions whoever takes them: by what is asked about. */
export function answersOf(approvals: readonly Approval[]): ApprovalDecisions {
  return Object.fromEntries(
    approvals.map(({ approvalId, arguments: { n } }) => [approvalId, n === 1 ? { block: "no" } : true]),
  );
}
