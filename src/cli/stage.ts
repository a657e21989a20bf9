/**
 * Owns the temporary folder and the server processes of one play; both are gone when `onStage` settles,
 * whatever happened on it. A folder that is to be kept is the only thing that stays.
 */
import type { LoadedConversation } from "./conversation-file.ts";
import { type RunningServer, startServers } from "./start-servers.ts";
import { type FileTexts, layWorkspace, readWorkspace, removeWorkspace } from "./workspace.ts";

/** What a play happens on. */
export interface Stage {
  readonly workspace: string;
  readonly servers: readonly RunningServer[];
}

/** How a stage is set up and left. */
export interface StageOptions {
  readonly keep: boolean;
  /** Whether the files that are left are wanted. */
  readonly readsFiles: boolean;
  readonly signal: AbortSignal;
}

/** What `play` answered, and what it left. */
export interface Staged<Result> {
  readonly result: Result;
  readonly workspace: string;
  /** The files after all servers have ended; none when they were not wanted. */
  readonly texts: FileTexts;
}

/**
 * Lays a fresh workspace, starts the servers, plays, and clears away.
 * @throws KernelError `INVALID_OPTIONS` for a server that does not start; whatever `play` throws
 */
export async function onStage<Result>(
  loaded: LoadedConversation,
  options: StageOptions,
  play: (stage: Stage) => Promise<Result>,
): Promise<Staged<Result>> {
  const workspace = await layWorkspace(loaded.conversation);
  try {
    const { servers, close } = await startServers(loaded, { workspace, signal: options.signal });
    let result: Result;
    try {
      result = await play({ workspace, servers });
    } finally {
      await close();
    }
    return { result, workspace, texts: options.readsFiles ? await readWorkspace(workspace) : new Map() };
  } finally {
    if (!options.keep) {
      await removeWorkspace(workspace);
    }
  }
}
