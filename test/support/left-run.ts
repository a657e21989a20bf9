/** Runs as an earlier process has left them: facts in a store, laid down by hand. */
import { type JsonObject, memoryRunStore, type RunFact, type RunStore, type StoredPreparation } from "toolkernel";

/** A call of the response that was left. */
export interface LeftCall {
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly keys?: readonly string[];
  /** How far the earlier process came with it. */
  readonly state?: "prepared" | "dispatched" | "succeeded" | "uncertain" | "asks" | "granted" | "blocked";
}

/** What was left, beside the calls. */
export interface LeftOptions {
  /** Call indices by epoch; by default each call is an epoch of its own; `null`: not planned yet. */
  readonly epochs?: readonly (readonly number[])[] | null;
  /** Whether it is an Agent's run, with a transcript. */
  readonly isAgents?: boolean;
  /** Facts behind those of the response. */
  readonly more?: readonly RunFact[];
}

const DISPATCHED_AT_MS = 1_000;
const SETTLED_AT_MS = 2_000;

/** A store in which nobody holds the run `run`, whose turn 1 was left in the middle. */
export async function leaveRun(calls: readonly LeftCall[], options: LeftOptions = {}): Promise<RunStore> {
  return storeOf(leftFacts(calls, options));
}

/** A store in which nobody holds the run `run`, which has come as far as these facts. */
export async function storeOf(facts: readonly RunFact[]): Promise<RunStore> {
  const store = memoryRunStore();
  const claim = await store.claim("run", { create: true });
  await claim.append(facts, { status: "running", turn: 1 });
  await claim.release();
  return store;
}

/** Every fact of the run `run` in a store, which somebody may hold no longer. */
export async function factsIn(store: RunStore): Promise<readonly RunFact[]> {
  const claim = await store.claim("run", { create: false });
  await claim.release();
  return claim.facts;
}

/** The calls as a model's response gives them: ids are `c0`, `c1`, … */
export function draftsOf(calls: readonly LeftCall[]) {
  return calls.map(({ name, arguments: draft = {} }, index) => ({ id: `c${index}`, name, arguments: draft }));
}

/** The facts of a run that was left in its first turn. */
export function leftFacts(calls: readonly LeftCall[], { epochs, isAgents = false, more = [] }: LeftOptions): RunFact[] {
  const turn = 1;
  const planned = epochs === undefined ? calls.map((_call, index) => [index]) : epochs;
  const stopReason = "toolUse";
  const content = draftsOf(calls).map((draft) => ({ type: "toolCall", ...draft }) as const);
  return [
    { kind: "begun", earlier: [] },
    ...(isAgents ? [{ kind: "message", message: { role: "user", content: "go" } } as const] : []),
    {
      kind: "response",
      turn,
      ...(isAgents && { message: { role: "assistant", content, stopReason } as const }),
      calls: draftsOf(calls),
      hasDuplicateIds: false,
      stopReason,
      totalTokens: 0,
    },
    { kind: "prepared", turn, calls: calls.map(preparationOf) },
    ...calls.flatMap(({ state }, index): RunFact[] => decisionOf(state, index)),
    ...(planned === null ? [] : [{ kind: "planned", turn, epochs: planned } as const]),
    ...calls.flatMap(({ state }, index): RunFact[] => progressOf(state, index)),
    ...more,
  ];
}

function preparationOf({ arguments: prepared = {}, keys = [], state }: LeftCall, index: number): StoredPreparation {
  const isAsked = state === "asks" || state === "granted" || state === "blocked";
  return {
    kind: "prepared",
    index,
    arguments: prepared,
    draft: prepared,
    conflictKeys: keys,
    repairs: [],
    ...(isAsked && { approval: { approvalId: `approval ${index}`, ask: { about: index } } }),
  };
}

function decisionOf(state: LeftCall["state"], index: number): RunFact[] {
  if (state !== "granted" && state !== "blocked") return [];
  return [{ kind: "decided", turn: 1, decisions: [{ index, ...(state === "blocked" && { block: "no" }) }] }];
}

function progressOf(state: LeftCall["state"], index: number): RunFact[] {
  const isSettled = state === "succeeded" || state === "uncertain";
  if (!isSettled && state !== "dispatched") return [];
  const dispatched: RunFact = { kind: "dispatched", turn: 1, index, atMs: DISPATCHED_AT_MS };
  if (!isSettled) return [dispatched];
  const isUncertain = state === "uncertain";
  return [
    dispatched,
    {
      kind: "settled",
      turn: 1,
      index,
      operationId: `operation ${index}`,
      outcome: state,
      result: {
        content: [{ type: "text", text: isUncertain ? "unknown" : "stored" }],
        isError: isUncertain,
        outcomeUncertain: isUncertain,
        terminate: false,
        ...(isUncertain && { failureCategory: "timeout" }),
      },
      epoch: index,
      startedAtMs: DISPATCHED_AT_MS,
      endedAtMs: SETTLED_AT_MS,
    },
  ];
}
