/** Every bound of the kernel. Times are milliseconds, sizes are UTF-16 units. */
export interface Limits {
  readonly maxTurns: number;
  readonly maxToolCallsPerTurn: number;
  /** Per run. */
  readonly maxToolCalls: number;
  readonly maxConcurrentTools: number;
  readonly maxTotalTokens: number;
  readonly maxMessages: number;
  readonly maxArgumentCharacters: number;
  readonly maxResultCharacters: number;
  readonly maxProgressEventsPerTool: number;
  readonly maxQueuedMessages: number;
  readonly toolTimeoutMs: number;
  /** Since the last streamed part. */
  readonly modelTimeoutMs: number;
  readonly hookTimeoutMs: number;
  readonly cancellationGraceMs: number;
  readonly abandonAfterMs: number;
  readonly exactToolRepeatAdvisoryThreshold: number;
  readonly exactToolRepeatTerminationThreshold: number;
}

/** The name of a limit. */
export type LimitName = keyof Limits;

/** What a limit is when the host says nothing. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  maxTurns: 32,
  maxToolCallsPerTurn: 32,
  maxToolCalls: 1_024,
  maxConcurrentTools: 8,
  maxTotalTokens: 1_000_000,
  maxMessages: 1_024,
  maxArgumentCharacters: 1_000_000,
  maxResultCharacters: 1_000_000,
  maxProgressEventsPerTool: 256,
  maxQueuedMessages: 64,
  toolTimeoutMs: 120_000,
  modelTimeoutMs: 120_000,
  hookTimeoutMs: 30_000,
  cancellationGraceMs: 1_000,
  abandonAfterMs: 30_000,
  exactToolRepeatAdvisoryThreshold: 3,
  exactToolRepeatTerminationThreshold: 8,
});

/** Smallest and largest value of each limit, both allowed; every one is a whole number. */
export const LIMIT_BOUNDS: Readonly<Record<LimitName, readonly [minimum: number, maximum: number]>> = Object.freeze({
  maxTurns: [1, 1_000_000],
  maxToolCallsPerTurn: [1, 1_000_000],
  maxToolCalls: [1, 1_000_000_000],
  maxConcurrentTools: [1, 100_000],
  maxTotalTokens: [1, Number.MAX_SAFE_INTEGER],
  maxMessages: [1, 10_000_000],
  maxArgumentCharacters: [2, 100_000_000],
  maxResultCharacters: [256, 100_000_000],
  maxProgressEventsPerTool: [0, 1_000_000],
  maxQueuedMessages: [1, 1_000_000],
  toolTimeoutMs: [1, 2_147_483_647],
  modelTimeoutMs: [1, 2_147_483_647],
  hookTimeoutMs: [1, 2_147_483_647],
  cancellationGraceMs: [1, 2_147_483_647],
  abandonAfterMs: [1, 2_147_483_647],
  exactToolRepeatAdvisoryThreshold: [0, 10_000],
  exactToolRepeatTerminationThreshold: [0, 10_000],
});
