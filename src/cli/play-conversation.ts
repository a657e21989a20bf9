import {
  type AnyTool,
  type ClosedBy,
  createToolSession,
  type SettledCall,
  type ToolExecution,
  type ToolSession,
} from "toolkernel";
import type { RunRecorder } from "toolkernel/inspect";
import { fromMcp } from "toolkernel/mcp";
import type { LoadedConversation, Turn } from "./conversation-file.ts";
import type { EventListener } from "./live-view.ts";
import { fillCall } from "./placeholders.ts";
import type { RunningServer } from "./start-servers.ts";
import { toolPolicies } from "./tool-policies.ts";

/** What a play needs. */
export interface PlayOptions {
  readonly loaded: LoadedConversation;
  readonly workspace: string;
  readonly tools: readonly AnyTool[];
  readonly toolExecution: ToolExecution | undefined;
  readonly maxConcurrentTools: number | undefined;
  /** Cancels the running batch; no later turn is played. */
  readonly signal: AbortSignal;
  readonly recorder: RunRecorder | undefined;
  /** Told of each turn before it is played; `number` is first 1. */
  onTurn(turn: Turn, number: number): void;
  readonly onEvent: EventListener;
}

/** One call with what its events said of its times, in milliseconds. */
export interface PlayedCall {
  readonly turn: number;
  readonly settled: SettledCall;
  /** Until it was dispatched; absent when it was not. */
  readonly waitedMs: number | undefined;
  /** From dispatch until it settled; absent when it was not dispatched. */
  readonly ranMs: number | undefined;
}

/** What became of a conversation. */
export interface Played {
  readonly calls: readonly PlayedCall[];
  /** Turns that were not played, because the loop was closed before or the play was cancelled. */
  readonly unplayedTurns: number;
  readonly closedBy: ClosedBy | undefined;
}

/** The tools of all servers, by the policies of the conversation file. */
export async function importTools(servers: readonly RunningServer[], workspace: string): Promise<AnyTool[]> {
  const imports = servers.map(({ client, description }) =>
    fromMcp(client, {
      prefix: description.prefix,
      trusted: description.trusted,
      only: description.only,
      tools: toolPolicies(description, workspace),
    }),
  );
  return (await Promise.all(imports)).flat();
}

/**
 * Plays the turns of a conversation through one session of the kernel, each when the one before has settled.
 * @throws KernelError `INVALID_OPTIONS` for limits or tools that the kernel does not take
 */
export async function playConversation(options: PlayOptions): Promise<Played> {
  const { conversation } = options.loaded;
  const maximum = options.maxConcurrentTools;
  const session = createToolSession({
    tools: options.tools,
    toolExecution: options.toolExecution,
    limits: { ...conversation.limits, ...(maximum === undefined ? {} : { maxConcurrentTools: maximum }) },
    telemetry: options.recorder?.telemetry,
    inspect: options.recorder?.inspect,
  });
  try {
    return await playTurns({ session, options });
  } finally {
    await session.close();
  }
}

interface Player {
  readonly session: ToolSession;
  readonly options: PlayOptions;
}

async function playTurns(player: Player): Promise<Played> {
  const { session, options } = player;
  const { turns } = options.loaded.conversation;
  const calls: PlayedCall[] = [];
  for (const [index, turn] of turns.entries()) {
    if (options.signal.aborted) {
      return { calls, unplayedTurns: turns.length - index, closedBy: undefined };
    }
    options.onTurn(turn, index + 1);
    if (turn.user !== undefined) {
      session.noteNewEvidence();
    }
    const { played, closedBy } = await playTurn(player, turn, index + 1);
    calls.push(...played);
    if (closedBy !== undefined) {
      return { calls, unplayedTurns: turns.length - index - 1, closedBy };
    }
  }
  return { calls, unplayedTurns: 0, closedBy: undefined };
}

interface PlayedTurn {
  readonly played: readonly PlayedCall[];
  readonly closedBy: ClosedBy | undefined;
}

async function playTurn({ session, options }: Player, turn: Turn, number: number): Promise<PlayedTurn> {
  const folders = { workspace: options.workspace, directory: options.loaded.directory };
  const calls = turn.calls.map((call) => fillCall(call, folders));
  const batch = session.execute(
    { calls, stopReason: turn.stopReason ?? "toolUse" },
    { signal: options.signal, turn: number },
  );
  options.recorder?.follow(batch, calls);
  const times = new Map<number, { waitedMs?: number; ranMs?: number }>();
  for await (const event of batch) {
    if (event.kind === "toolDispatched") {
      times.set(event.callIndex, { waitedMs: event.waitedMs });
    } else if (event.kind === "toolEnded" && event.durationMs !== undefined) {
      times.set(event.callIndex, { ...times.get(event.callIndex), ranMs: event.durationMs });
    }
    options.onEvent(event);
  }
  const { settled, closedBy } = await batch.result;
  const played = settled.map((call) => ({
    turn: number,
    settled: call,
    waitedMs: times.get(call.index)?.waitedMs,
    ranMs: times.get(call.index)?.ranMs,
  }));
  return { played, closedBy };
}
