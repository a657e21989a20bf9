/**
 * What a run's facts add up to.
 * Owns: nothing; pure. Upholds: RUN-6 (facts are kept, state is rebuilt from them).
 */
import type { Repair, SettledCall } from "../../domain/call.ts";
import { freezeDeep } from "../../domain/frozen.ts";
import type { Message, UserMessage } from "../../domain/message.ts";
import type { RunFact, StoredOutcome, StoredPreparation } from "../../domain/run-store.ts";
import { freezeResult } from "../../settle/freeze-result.ts";

/** A fact of one kind. */
export type FactOf<Kind extends RunFact["kind"]> = Extract<RunFact, { kind: Kind }>;

/** One response and what became of its calls so far. */
export interface StoredBatch {
  readonly response: FactOf<"response">;
  /** Calls of the run before this response. */
  readonly earlierToolCalls: number;
  /** Undefined until every call was prepared. */
  readonly preparations: readonly StoredPreparation[] | undefined;
  readonly decisions: ReadonlyMap<number, { readonly block?: string }>;
  /** Call indices by epoch; undefined until the batch was planned. */
  readonly epochs: readonly (readonly number[])[] | undefined;
  /** By call index. */
  readonly dispatched: ReadonlyMap<number, FactOf<"dispatched">>;
  readonly settled: ReadonlyMap<number, FactOf<"settled">>;
  readonly ended: FactOf<"batchEnded"> | undefined;
  /** Whether new evidence reached the model since its calls were counted (REP-7). */
  readonly isBehindEvidence: boolean;
}

/** A run as it stands in its store. */
export interface StoredRun {
  readonly earlier: readonly Message[];
  /** Everything added to the transcript since. */
  readonly added: readonly Message[];
  readonly steering: readonly UserMessage[];
  readonly followUps: readonly UserMessage[];
  readonly turn: number;
  readonly totalTokens: number;
  readonly toolCalls: number;
  /** Batches in order; `null` where new evidence reached the model between them (REP-7). */
  readonly history: readonly (StoredBatch | null)[];
  /** The batch that has not ended, if there is one. */
  readonly open: StoredBatch | undefined;
  /** Operation ids that the host has resolved. */
  readonly resolved: ReadonlySet<string>;
  readonly ended: StoredOutcome | undefined;
}

type BatchDraft = {
  -readonly [Field in keyof StoredBatch]: StoredBatch[Field];
} & {
  readonly decisions: Map<number, { readonly block?: string }>;
  readonly dispatched: Map<number, FactOf<"dispatched">>;
  readonly settled: Map<number, FactOf<"settled">>;
};

interface RunDraft {
  earlier: readonly Message[];
  readonly added: Message[];
  readonly queues: { steering: UserMessage[]; followUp: UserMessage[] };
  turn: number;
  totalTokens: number;
  toolCalls: number;
  readonly history: (BatchDraft | null)[];
  readonly resolved: Set<string>;
  ended: StoredOutcome | undefined;
}

/** A call with its result, as it was settled. */
export function toSettled(
  { kind: _kind, turn: _turn, heldUntilMs: _held, isProjectionFailed: _failed, result, ...rest }: FactOf<"settled">,
  { repairs, ...call }: Pick<SettledCall, "call" | "conflictKeys"> & { readonly repairs: readonly Repair[] },
): SettledCall {
  return { ...rest, ...call, result: freezeResult(result), ...(repairs.length > 0 && { repairs }) };
}

/** Whether an earlier process has told anything of a batch's calls. */
export function isBegun({ preparations, settled }: StoredBatch): boolean {
  return preparations !== undefined || settled.size > 0;
}

/** The dispatch of a call that an earlier process has dispatched and that has no settlement. */
export function unfinishedDispatch(batch: StoredBatch | undefined, index: number): FactOf<"dispatched"> | undefined {
  return batch?.settled.has(index) === true ? undefined : batch?.dispatched.get(index);
}

/** Adds up the facts of a run, in their order. */
export function foldRun(facts: readonly RunFact[]): StoredRun {
  const run: RunDraft = {
    earlier: [],
    added: [],
    queues: { steering: [], followUp: [] },
    turn: 0,
    totalTokens: 0,
    toolCalls: 0,
    history: [],
    resolved: new Set(),
    ended: undefined,
  };
  for (const fact of facts) addFact(run, fact);
  const last = run.history.findLast((batch) => batch !== null);
  const { queues, ...rest } = run;
  const isOpen = last !== undefined && last.ended === undefined;
  return { ...rest, steering: queues.steering, followUps: queues.followUp, open: isOpen ? last : undefined };
}

function addFact(run: RunDraft, fact: RunFact): void {
  freezeDeep(fact); // calls and messages of it are shown to hooks and providers
  switch (fact.kind) {
    case "begun":
      run.earlier = fact.earlier;
      break;
    case "message":
      run.added.push(fact.message);
      break;
    case "queued":
      run.queues[fact.queue].push(fact.message);
      break;
    case "delivered":
      run.added.push(...run.queues[fact.queue].splice(0));
      addEvidence(run);
      break;
    case "evidence":
      addEvidence(run);
      break;
    case "response":
      addResponse(run, fact);
      break;
    case "resolved":
      run.resolved.add(fact.operationId);
      break;
    case "ended":
      run.ended = fact.outcome;
      run.added.splice(fact.added);
      break;
    default:
      addBatchFact(run, fact);
  }
}

/** New evidence is older than a batch whose calls were not counted yet when it came (REP-2, REP-7). */
function addEvidence({ history }: RunDraft): void {
  const last = history.at(-1) ?? undefined;
  const isCounted = last?.ended !== undefined || last?.epochs !== undefined || last?.response.calls.length === 0;
  if (last !== undefined && !isCounted) {
    history.splice(-1, 0, null);
    return;
  }
  if (last !== undefined) last.isBehindEvidence = true;
  history.push(null);
}

function addResponse(run: RunDraft, fact: FactOf<"response">): void {
  // A run that had ended goes on where a host goes on with it.
  run.ended = undefined;
  run.turn = fact.turn;
  run.totalTokens = fact.totalTokens;
  if (fact.message !== undefined && fact.message.content.length > 0) run.added.push(fact.message);
  run.history.push({
    response: fact,
    earlierToolCalls: run.toolCalls,
    preparations: undefined,
    decisions: new Map(),
    epochs: undefined,
    dispatched: new Map(),
    settled: new Map(),
    ended: undefined,
    isBehindEvidence: false,
  });
}

function addBatchFact(
  run: RunDraft,
  fact: FactOf<"prepared" | "decided" | "planned" | "dispatched" | "settled" | "batchEnded">,
): void {
  const batch = run.history.findLast((known) => known !== null && known.response.turn === fact.turn);
  if (batch === null || batch === undefined) return;
  switch (fact.kind) {
    case "prepared":
      batch.preparations = fact.calls;
      countCalls(run, batch);
      break;
    case "decided":
      for (const { index, ...decision } of fact.decisions) batch.decisions.set(index, decision);
      break;
    case "planned":
      batch.epochs = fact.epochs;
      break;
    case "dispatched":
      batch.dispatched.set(fact.index, fact);
      break;
    case "settled":
      batch.settled.set(fact.index, fact);
      break;
    case "batchEnded":
      batch.ended = fact;
      // Cancelled while they were prepared: they count, as those of a response that was refused whole do not.
      if ([...batch.settled.values()].some(({ outcome }) => outcome === "cancelled")) countCalls(run, batch);
      run.added.push(...fact.messages);
      break;
  }
}

function countCalls(run: RunDraft, { earlierToolCalls, response }: StoredBatch): void {
  run.toolCalls = earlierToolCalls + response.calls.length;
}
