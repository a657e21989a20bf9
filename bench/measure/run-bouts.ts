/**
 * Runs one workload with several contenders, in turn, round by round.
 * Owns: the workers' processes, until it answers. Invariants: one worker works at a time; the order turns
 * by one with every round, so that nobody always comes after the same neighbour.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ContenderKey } from "./contenders.ts";
import type { WorkerReport } from "./worker.ts";
import type { Sample } from "./workload.ts";
import type { WorkloadKey } from "./workloads.ts";

/** What to run. */
export interface BoutPlan {
  readonly workload: WorkloadKey;
  readonly size: string;
  readonly contenders: readonly ContenderKey[];
  /** Rounds that are thrown away first, while code is compiled. */
  readonly warmUps: number;
  readonly rounds: number;
  /** More options for the workers' Node. */
  readonly nodeOptions?: readonly string[];
}

/** What a contender came to. */
export interface BoutRecord {
  readonly contender: ContenderKey;
  readonly name: string;
  readonly version: string;
  /** One per round, in the order of rounds; sample n of all contenders belong together. */
  readonly samples: readonly Sample[];
  /** Why there are no samples, if there are none. */
  readonly failure?: string;
}

/** See the file header. */
export async function runBouts(plan: BoutPlan): Promise<BoutRecord[]> {
  const workers: Worker[] = [];
  for (const contender of plan.contenders) workers.push(await startWorker(plan, contender));
  for (let round = 0; round < plan.warmUps + plan.rounds; round++) {
    for (let place = 0; place < workers.length; place++) {
      const worker = workers[(place + round) % workers.length];
      if (worker === undefined || worker.failure !== undefined) continue;
      const said = await ask(worker.child);
      if (said.kind === "failed") worker.failure = said.message;
      if (said.kind === "sample" && round >= plan.warmUps) worker.samples.push(said.sample);
    }
  }
  for (const { child } of workers) child.kill();
  return workers.map(({ contender, name, version, samples, failure }) => ({
    contender,
    name,
    version,
    samples,
    ...(failure !== undefined && { failure }),
  }));
}

interface Worker {
  readonly contender: ContenderKey;
  readonly child: ChildProcess;
  readonly name: string;
  readonly version: string;
  readonly samples: Sample[];
  failure: string | undefined;
}

async function startWorker({ workload, size, nodeOptions }: BoutPlan, contender: ContenderKey): Promise<Worker> {
  const child = fork(fileURLToPath(new URL("./worker.js", import.meta.url)), [contender, workload, size], {
    execArgv: ["--expose-gc", "--no-memory-reducer", ...(nodeOptions ?? [])],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const said = await heard(child);
  const known = said.kind === "ready" ? said : { name: contender, version: "" };
  const failure = said.kind === "failed" ? said.message : undefined;
  return { contender, child, name: known.name, version: known.version, samples: [], failure };
}

function ask(child: ChildProcess): Promise<WorkerReport> {
  const answer = heard(child);
  child.send("round");
  return answer;
}

function heard(child: ChildProcess): Promise<WorkerReport> {
  return new Promise((resolve) => {
    const settle = (report: WorkerReport): void => {
      child.off("message", onMessage);
      child.off("exit", onExit);
      resolve(report);
    };
    const onMessage = (message: unknown): void => settle(message as WorkerReport); // a worker says nothing else
    const onExit = (code: number | null): void => settle({ kind: "failed", message: `the worker ended with ${code}` });
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}
