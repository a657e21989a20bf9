/**
 * A process that runs or resumes an Agent on real stores, and kills itself at an append of its run store:
 * before the store is asked, or behind its answer and before anybody gets to know.
 */
import {
  Agent,
  defineTool,
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  type ModelProvider,
  type RunResult,
  type RunStore,
} from "toolkernel";
import { openRuns, openStore, type StoreAddress } from "./store.ts";
import { World } from "./world.ts";
import { writeLine } from "./write-line.ts";

/** What a process is told to do. */
export interface AgentOrders {
  readonly store: StoreAddress;
  readonly worldPath: string;
  readonly isResumed: boolean;
  /** At which append it dies, the first being 0; null: at none. */
  readonly crash: { readonly at: number; readonly when: "before" | "after" } | null;
}

/** A line that it says. */
export interface AgentSaid {
  readonly result?: Pick<RunResult, "status" | "endedBy" | "messages"> & { readonly code?: string };
  readonly appends?: number;
}

const INPUT = { sessionId: "session", actorId: "actor", inputId: "input", moment: { timelineId: "main", tick: 1 } };
const SCHEMA = { type: "object", properties: { plot: { type: "integer" } }, required: ["plot"] };

function call(turn: number, name: string) {
  return { type: "toolCall" as const, id: `${name}-${turn}`, name, arguments: { plot: turn } };
}

/** Two turns of tools, then an end. */
const model: ModelProvider = {
  generate: async ({ turn }) =>
    turn > 2
      ? { content: [{ type: "text", text: "Done." }], stopReason: "stop" }
      : { content: ["look", "build", "mark"].map((name) => call(turn, name)), stopReason: "toolUse" },
};

/** A store that kills its process at an append. */
function mortal(store: RunStore, crash: AgentOrders["crash"], appends: { count: number }): RunStore {
  const dieAt = (when: "before" | "after"): void => {
    if (crash?.when === when && crash.at === appends.count) process.kill(process.pid, "SIGKILL");
  };
  return {
    listOpen: (options) => store.listOpen(options),
    prune: (options) => store.prune(options),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
    claim: async (runId, options) => {
      const claim = await store.claim(runId, options);
      return {
        runId,
        facts: claim.facts,
        release: () => claim.release(),
        append: async (facts, progress) => {
          dieAt("before");
          await claim.append(facts, progress);
          dieAt("after");
          appends.count += 1;
        },
      };
    },
  };
}

async function work(orders: AgentOrders): Promise<void> {
  const world = new World(orders.worldPath);
  const journal = await openStore(orders.store);
  const appends = { count: 0 };
  const runStore = mortal(await openRuns(orders.store), orders.crash, appends);
  const dispatcher = new GameActionDispatcher({
    journal,
    handler: {
      execute: (intent, { fence }) => {
        const write = { operationId: intent.operationId, key: "", fence };
        world.note("begun", write);
        world.note("done", write);
        return GameActionReceipt.committed(intent, { built: true });
      },
      recover: (intent) =>
        world.isDone(intent.operationId)
          ? GameActionReceipt.committed(intent, { built: true })
          : GameActionReceipt.failed(intent, "absent", "It is not there."),
    },
  });
  const mark = defineTool({
    name: "mark",
    description: "Writes.",
    inputSchema: SCHEMA,
    execute: (_args, { operationId }) => {
      world.note("begun", { operationId, key: "", fence: 1 });
      world.note("done", { operationId, key: "", fence: 1 });
      return "marked";
    },
  });
  const look = defineTool({
    name: "look",
    description: "Reads.",
    risk: "readOnly",
    inputSchema: SCHEMA,
    execute: () => "seen",
  });
  const build = GameActionTool.create({
    input: INPUT,
    name: "build",
    description: "Builds.",
    inputSchema: SCHEMA,
    dispatcher,
    conflictKey: ({ plot }) => `plot:${String(plot)}`,
  });
  const agent = new Agent({ model, tools: [look, build, mark], runStore });
  const run = orders.isResumed ? agent.resume("run") : agent.run("Go.", { runId: "run" });
  const { status, endedBy, messages, error } = await run.result;
  const code = (error as { readonly code?: string } | undefined)?.code;
  const result = { status, messages, ...(endedBy !== undefined && { endedBy }), ...(code !== undefined && { code }) };
  writeLine({ appends: appends.count, result } satisfies AgentSaid);
  await runStore.close();
  await journal.close();
  process.exit(0);
}

await work(JSON.parse(process.argv[2] ?? "") as AgentOrders); // written by the test
