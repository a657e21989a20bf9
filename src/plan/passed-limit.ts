import type { LimitName, Limits } from "../domain/limits.ts";

/** What a run has used so far. */
export interface RunUse {
  readonly turns: number;
  readonly totalTokens: number;
  /** In the transcript, and due to be added to it before the next request. */
  readonly messages: number;
}

/** A response and its notice: what a turn adds to the transcript beside the results of its calls. */
const MESSAGES_BESIDE_RESULTS = 2;

/** The limit that one more turn could pass, so that it is not begun (RUN-1); undefined: none. Pure. */
export function findPassedLimit(use: RunUse, limits: Limits): LimitName | undefined {
  if (use.turns >= limits.maxTurns) return "maxTurns";
  if (use.totalTokens >= limits.maxTotalTokens) return "maxTotalTokens";
  const expected = use.messages + MESSAGES_BESIDE_RESULTS + limits.maxToolCallsPerTurn;
  return expected > limits.maxMessages ? "maxMessages" : undefined;
}
