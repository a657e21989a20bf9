import type { AnyTool } from "toolkernel";
import { compareFiles, type LabelledCall } from "./compare-files.ts";
import type { LoadedConversation, Turn } from "./conversation-file.ts";
import type { Played } from "./play-conversation.ts";
import { playPromiseAll } from "./play-promise-all.ts";
import type { Compared } from "./show-summary.ts";
import { onStage, type Staged, type StageOptions } from "./stage.ts";
import { laidTexts } from "./workspace.ts";

/** What the kernel's play gave, beside the files it left. */
export interface KernelPlay {
  readonly played: Played;
  readonly tools: readonly AnyTool[];
  /** Operation ids whose outcome a journal does not know; undefined without one. */
  readonly uncertain: ReadonlySet<string> | undefined;
}

/** What the comparison needs beside the kernel's play. */
export interface ComparisonOptions {
  readonly loaded: LoadedConversation;
  readonly stageOptions: StageOptions;
}

/**
 * Plays the responses that the kernel has played again through `Promise.all`, on a stage of its own, and
 * compares the files. `undefined` when it was interrupted: half a play compares with nothing.
 * @throws KernelError `INVALID_OPTIONS` when a server does not start this time
 */
export async function comparePromiseAll(
  kernel: Staged<KernelPlay>,
  { loaded, stageOptions }: ComparisonOptions,
): Promise<Compared | undefined> {
  const { signal } = stageOptions;
  if (signal.aborted) {
    return undefined;
  }
  const { conversation, directory } = loaded;
  const turns = conversation.turns.slice(0, conversation.turns.length - kernel.result.played.unplayedTurns);
  const other = await onStage(loaded, stageOptions, ({ workspace, servers }) =>
    playPromiseAll({ turns, servers, signal, folders: { workspace, directory } }),
  );
  if (signal.aborted) {
    return undefined;
  }
  const files = compareFiles({
    before: laidTexts(conversation),
    kernel: { folders: { workspace: kernel.workspace, directory }, texts: kernel.texts },
    other: { folders: { workspace: other.workspace, directory }, texts: other.texts },
    writes: writeCalls(turns, kernel.result.tools),
  });
  return { files, promiseAll: other.result, workspace: other.workspace };
}

function writeCalls(turns: readonly Turn[], tools: readonly AnyTool[]): readonly LabelledCall[] {
  const reads = new Set(tools.filter(({ risk }) => risk === "readOnly").map(({ name }) => name));
  return turns.flatMap((turn, index) =>
    turn.calls
      .map((call, callIndex) => ({ call, label: turns.length > 1 ? `${index + 1}:#${callIndex}` : `#${callIndex}` }))
      .filter(({ call }) => !reads.has(call.name)),
  );
}
