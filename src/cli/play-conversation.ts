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
import { type Reconciled, reconcileAll } from "./reconcile-all.ts";
import type { ShownTurn } from "./show-world.ts";
import type { RunningServer } from "./start-servers.ts";
import { toolPolicies } from "./tool-policies.ts";
import type { OpenWorld } from "./world.ts";

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
  /** The durable world, if the conversation has one; `ask` is told what became of each uncertain action. */
  readonly world: OpenWorld | undefined;
  onReconciled(told: Reconciled): void;
  /** Told what the model is shown of a turn, and whether an earlier play had done it already. */
  onShown(shown: ShownTurn): void;
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
  const { world } = options;
  const session = createToolSession({
    tools: [...options.tools, ...(world?.tools ?? [])],
    ...(world !== undefined && { runStore: world.runStore, runId: world.runId }),
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
    if (turn.reconcile === true && options.world !== undefined) {
      await reconcileAll(options.world, (told) => options.onReconciled(told));
    }
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
  const { settled, closedBy, messages } = await batch.result;
  options.onShown({
    messages,
    isKnown: times.size === 0 && settled.some(({ startedAtMs }) => startedAtMs !== undefined),
  });
  const played = settled.map((call) => ({
    turn: number,
    settled: call,
    waitedMs: times.get(call.index)?.waitedMs,
    ranMs: times.get(call.index)?.ranMs,
  }));
  return { played, closedBy };
}
