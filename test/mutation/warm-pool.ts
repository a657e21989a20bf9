/**
 * Keeps one worker for all mutants: to start a worker and to load packages anew for each takes longer than to run
 * the tests that find it. A mutant in what runs while a module is loaded needs the project's own modules anew, and
 * so does what comes after it. Owns the worker that is kept.
 */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import type { PoolOptions, PoolRunnerInitializer, PoolWorker, WorkerRequest } from "vitest/node";

/** After so many runs a worker makes room for another, with whatever mutants may have left behind in it. */
const RUNS_PER_WORKER = 150;

const NAME = "warm";

let kept: Worker | undefined;
let runs = 0;
/** Whether the modules of the worker that is kept were loaded with a mutant in them. */
let isTainted = false;

/** The pool, for `poolRunner` in the configuration. */
export const warmPool: PoolRunnerInitializer = {
  name: NAME,
  createPoolWorker: (options) => new WarmWorker(options),
};

class WarmWorker implements PoolWorker {
  readonly name = NAME;
  readonly #options: PoolOptions;
  readonly #isOfMutant: boolean;
  readonly #isStatic: boolean;
  readonly #listeners: [event: string, callback: (arg: unknown) => void][] = [];
  #worker: Worker | undefined;
  #hasEnded = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const provided: { readonly mode?: string; readonly mutantActivation?: string } =
      options.project.getProvidedContext();
    this.#isOfMutant = provided.mode === "mutant";
    this.#isStatic = provided.mutantActivation === "static";
  }

  async start(): Promise<void> {
    if (!this.#isOfMutant || runs >= RUNS_PER_WORKER) {
      await kept?.terminate();
      kept = undefined;
      runs = 0;
      isTainted = false;
    }
    runs += 1;
    this.#worker = kept ?? this.#load();
    kept = this.#worker;
  }

  on(event: string, callback: (arg: unknown) => void): void {
    this.#listeners.push([event, callback]);
    this.#worker?.on(event, callback);
  }

  off(event: string, callback: (arg: unknown) => void): void {
    this.#worker?.off(event, callback);
  }

  /** Passes all on, but for the request to stop, which is answered here: the worker goes on. */
  send(message: WorkerRequest): void {
    if (message.type !== "stop") {
      this.#worker?.postMessage(message.type === "run" ? this.#withFreshModules(message) : message);
      return;
    }
    this.#hasEnded = true;
    const answer = { __vitest_worker_response__: true, type: "stopped" };
    for (const [event, callback] of this.#listeners) if (event === "message") callback(answer);
  }

  async stop(): Promise<void> {
    for (const [event, callback] of this.#listeners) this.#worker?.off(event, callback);
    if (this.#hasEnded && this.#isOfMutant) return;
    await this.#worker?.terminate();
    kept = undefined;
    isTainted = false;
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  #withFreshModules(message: WorkerRequest & { readonly type: "run" }): WorkerRequest {
    if (!this.#isStatic && !isTainted) return message;
    isTainted = this.#isStatic;
    const invalidates = ownModules(this.#options.project.config.root);
    return { ...message, context: { ...message.context, invalidates } };
  }

  #load(): Worker {
    const { distPath, env, execArgv } = this.#options;
    const worker = new Worker(resolve(distPath, "workers/threads.js"), { env, execArgv, stdout: true, stderr: true });
    worker.setMaxListeners(0);
    worker.stdout.resume();
    worker.stderr.resume();
    return worker;
  }
}

let own: readonly string[] | undefined;

function ownModules(root: string): string[] {
  own ??= ["machines", "src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(root, folder, path)),
  );
  return [...own];
}
