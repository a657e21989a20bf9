/**
 * What a path of the run chart says of the run before it is led: which hooks ask, which limits there are, what
 * each response holds, what each turn is to come to.
 * Owns: how many turns are over.
 */
import type { AgentOptions, ModelResponse } from "toolkernel";
import type { ChartPath } from "./chart-paths.ts";
import type { TurnOver } from "./run.model.ts";

/** When a model that says nothing is given up. */
export const MODEL_TIMEOUT_MS = 120_000;
/** When a hook that says nothing is given up. */
export const HOOK_TIMEOUT_MS = 30_000;

/** See the file header. */
export class RunScript {
  /** The fact that the path begins with. */
  readonly start: string | undefined;
  readonly #path: ChartPath;
  #turns = 0;

  constructor(path: ChartPath) {
    this.#path = path;
    this.start = path.steps[0]?.fact.type;
  }

  /** A turn is over. */
  endTurn(): void {
    this.#turns += 1;
  }

  /** Only a store can fail while the model or the tools are at work, and only from a store can a dead run be taken. */
  get isRecorded(): boolean {
    const { steps, variant } = this.#path;
    const isStoreNeeded = steps.some(
      ({ fact }, place) =>
        fact.type === "FAULTED" &&
        ["READY", "RESPONDED", "RESUME", "CANCEL"].includes(steps[place - 1]?.fact.type ?? ""),
    );
    return isStoreNeeded || this.start === "CLOSE_TURN" || variant % 2 === 1;
  }

  /** Whether a fact comes on the path. */
  tells(type: string): boolean {
    return this.#path.steps.some(({ fact }) => fact.type === type);
  }

  /** Whether the authorizer asks a person. */
  get asks(): boolean {
    return this.start === "RESUME" || this.tells("APPROVALS_ASKED");
  }

  /** What the turn that runs is to come to. */
  get turn(): TurnOver | undefined {
    const turns = this.#path.steps.filter(({ fact }) => fact.type === "TURN_OVER");
    return turns[this.#turns]?.fact as TurnOver | undefined; // a fact of that type is one of `TURNS`
  }

  /** The limits that the path needs. */
  limits(): AgentOptions["limits"] {
    const limits = new Set(this.#path.steps.flatMap(({ fact }) => (fact.type === "LIMIT_REACHED" ? [fact.limit] : [])));
    const closers = new Set(this.#path.steps.map(({ fact }) => fact.closedBy));
    return {
      modelTimeoutMs: MODEL_TIMEOUT_MS,
      hookTimeoutMs: HOOK_TIMEOUT_MS,
      exactToolRepeatAdvisoryThreshold: 0,
      exactToolRepeatTerminationThreshold: closers.has("exactToolRepeat") ? 1 : 8,
      ...(closers.has("maxToolCalls") && { maxToolCalls: 1 }),
      ...(limits.has("maxMessages") && { maxMessages: 1 }),
      ...(limits.has("maxTurns") && { maxTurns: 1 }),
      ...(limits.has("maxTotalTokens") && { maxTotalTokens: 10 }),
    };
  }

  /** The model's next response. */
  response(hasCalls: boolean): ModelResponse {
    const usage = { inputTokens: 5, outputTokens: 5, totalTokens: 10 };
    const stopReason = this.turn?.hasModelFailed === true ? "error" : hasCalls ? "toolUse" : "stop";
    if (!hasCalls) return { content: [{ type: "text", text: "well" }], stopReason, usage };
    const name = this.turn?.closedBy === "projectionFailed" ? "durable" : "tool";
    const ids = [`a${this.#turns}`, `b${this.#turns}`];
    return { content: ids.map((id) => ({ type: "toolCall", id, name, arguments: "{}" })), stopReason, usage };
  }
}
