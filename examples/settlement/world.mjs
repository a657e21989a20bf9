// A small settlement, as a game server might hold it: plots, stores and players in a log file that outlives
// the process. Its handler can be told to fail, hang, lose its answer, or take the process down with it.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PRICES = { farm: 10, mill: 25, wall: 5 };

/**
 * Opens the settlement of a folder. `faults` says what goes wrong with an action, once, by
 * "action:plot" or "action:player"; what went wrong is in the log, so a restart does not repeat it.
 */
export function openSettlement({ folder, faults = {}, GameActionReceipt }) {
  const path = join(folder, "settlement.jsonl");
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).map(JSON.parse) : [];
  const committed = (intent) =>
    GameActionReceipt.committed(intent, describe(intent), { stateRevision: state.revision });
  const state = {
    revision: 0,
    plots: {},
    gold: { "player-1": 60, "player-2": 40 },
    writes: [],
    faulted: new Set(),
    outOfReach: new Set(),
  };
  for (const line of lines) apply(state, line);
  const log = (line) => {
    appendFileSync(path, `${JSON.stringify(line)}\n`);
    apply(state, line);
  };
  return {
    state,
    handler: {
      async execute(intent, { signal, fence }) {
        const refusal = refuse(state, intent);
        if (refusal !== undefined) return GameActionReceipt.rejected(intent, refusal.code, refusal.message);
        const fault = takeFault(intent, faults, state, log);
        if (fault === "fail") return GameActionReceipt.failed(intent, "no_workers", "Nobody was free to do it.");
        log({
          kind: "write",
          operationId: intent.operationId,
          action: intent.action,
          arguments: intent.arguments,
          fence,
        });
        if (fault === "crash") process.kill(process.pid, "SIGKILL");
        if (fault === "hang") state.outOfReach.add(intent.operationId);
        if (fault === "hang")
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        if (fault === "loseAnswer") throw new Error("the connection to the world was lost");
        return committed(intent);
      },
      // Asked what became of a write whose answer was lost: the world knows its writes by operation id.
      async recover(intent) {
        if (state.outOfReach.delete(intent.operationId)) return undefined;
        const isDone = state.writes.includes(intent.operationId);
        return isDone
          ? committed(intent)
          : GameActionReceipt.failed(intent, "not_done", "The world has no such write.");
      },
    },
  };
}

function apply(state, line) {
  if (line.kind === "fault") {
    state.faulted.add(line.name);
    return;
  }
  const { action, arguments: given, operationId } = line;
  state.revision += 1;
  state.writes.push(operationId);
  if (action === "build") state.plots[given.plot] = { structure: given.structure, grain: 3 };
  if (action === "harvest") state.plots[given.plot].grain = 0;
  if (action === "trade") {
    state.gold[given.from] -= given.gold;
    state.gold[given.to] += given.gold;
  }
}

function refuse({ plots, gold }, { action, arguments: given }) {
  if (action === "build" && plots[given.plot] !== undefined)
    return { code: "plot_taken", message: "Something stands there." };
  if (action === "harvest" && !(plots[given.plot]?.grain > 0))
    return { code: "nothing_ripe", message: "Nothing is ripe there." };
  if (action === "trade" && gold[given.from] < given.gold)
    return { code: "no_gold", message: "That is more than there is." };
  return undefined;
}

function takeFault({ action, arguments: given }, faults, state, log) {
  const name = `${action}:${given.plot ?? given.from}`;
  const fault = faults[name];
  if (fault === undefined || state.faulted.has(name)) return undefined;
  log({ kind: "fault", name });
  return fault;
}

function describe({ action, arguments: given }) {
  const { plot, structure, from, to } = given;
  const labels = { build: `${structure} on ${plot}`, harvest: `grain of ${plot}`, trade: `${from} to ${to}` };
  return { label: labels[action], price: PRICES[structure] ?? 0 };
}

const text = { type: "string" };
const closed = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

// What the model sees of a receipt: no ids, no coordinates, no timings.
const projection = ({ intent, receipt }) => ({
  action: intent.action,
  status: receipt.status,
  ...(receipt.status === "committed" ? { label: receipt.result.label } : { reason: receipt.code }),
});

/** What `toolkernel run` asks a world module for. */
export default function createWorld(given) {
  const { state, handler } = openSettlement(given);
  const plotKey = ({ plot }) => `plot:${plot}`;
  return {
    handler,
    reads: [
      {
        name: "scout",
        description: "Looks at a plot.",
        inputSchema: closed({ plot: text }),
        execute: async ({ plot }) => state.plots[plot] ?? { structure: null },
      },
    ],
    actions: [
      {
        name: "build",
        description: "Builds a farm, mill or wall on a free plot.",
        inputSchema: closed({ plot: text, structure: { enum: Object.keys(PRICES) } }),
        conflictKey: plotKey,
        executionMode: "parallel",
        modelReceiptProjector: projection,
      },
      {
        name: "harvest",
        description: "Brings in what is ripe on a plot.",
        inputSchema: closed({ plot: text }),
        conflictKey: plotKey,
        executionMode: "parallel",
        timeoutMs: 500,
        modelReceiptProjector: projection,
      },
      {
        name: "trade",
        description: "Gives gold from one player to another.",
        inputSchema: closed({ from: text, to: text, gold: { type: "integer", minimum: 1 } }),
        conflictKey: ({ from, to }) => [`player:${from}`, `player:${to}`],
        executionMode: "parallel",
        modelReceiptProjector: projection,
      },
    ],
  };
}
