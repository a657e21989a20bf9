/**
 * The durable world of a conversation: its module, its journal, its tools.
 * Owns: the journal and the run store of one play, both closed by `close`.
 */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type AnyTool,
  defineTool,
  GameActionDispatcher,
  type GameActionHandler,
  type GameActionInput,
  GameActionReceipt,
  GameActionTool,
  type GameActionToolOptions,
  type Journal,
  type JsonObject,
  KernelError,
  type RunStore,
  type ToolDefinition,
} from "toolkernel";
import { openSqliteJournal, openSqliteRunStore } from "toolkernel/sqlite";
import type { LoadedConversation } from "./conversation-file.ts";

/** What a conversation file says of its world. */
export interface WorldDescription {
  readonly module: string;
  readonly faults?: Readonly<Record<string, string>>;
  readonly input: GameActionInput;
}

type ActionDefinition = Omit<GameActionToolOptions<string, JsonObject, never>, "input" | "dispatcher">;

/** What the module of a world gives: who does the actions, and the tools by which a model asks for them. */
interface World {
  readonly handler: GameActionHandler;
  readonly actions: readonly ActionDefinition[];
  readonly reads?: readonly Omit<ToolDefinition<string, JsonObject, unknown>, "risk">[];
}

/** A world that is open. */
export interface OpenWorld {
  readonly tools: readonly AnyTool[];
  readonly journal: Journal;
  readonly dispatcher: GameActionDispatcher;
  readonly runStore: RunStore;
  /** The same for every play of this input, so that one goes on where another ended. */
  readonly runId: string;
  close(): Promise<void>;
}

/**
 * Opens the world of a conversation on a journal file; the world keeps its own files beside it.
 * @throws KernelError `INVALID_OPTIONS` for a module that is not a world, `JOURNAL_*` for the file
 */
export async function openWorld(loaded: LoadedConversation, journalPath: string): Promise<OpenWorld> {
  const { world: description } = loaded.conversation;
  if (description === undefined) throw fault(loaded.path, "has no world, so there is nothing to keep in a journal");
  const world = await loadWorld(loaded, description, dirname(resolve(journalPath)));
  const stores: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  };
  try {
    const journal = await openSqliteJournal(journalPath);
    stores.push(journal);
    const runStore = await openSqliteRunStore(journalPath);
    stores.push(runStore);
    const { input } = description;
    const runId = `play:${input.sessionId}:${input.inputId}`;
    return { ...(await peopleWorld(world, journal, input)), journal, runStore, runId, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Who does the actions of a world, and the tools by which a model asks for them. */
async function peopleWorld(
  { handler, actions, reads = [] }: World,
  journal: Journal,
  input: GameActionInput,
): Promise<Pick<OpenWorld, "dispatcher" | "tools">> {
  const dispatcher = new GameActionDispatcher({ journal, handler });
  await dispatcher.start();
  const tools = [
    ...reads.map((read) => defineTool({ ...read, risk: "readOnly" })),
    ...actions.map((action) => GameActionTool.create({ ...action, input, dispatcher } as never)),
  ];
  return { dispatcher, tools: tools as readonly AnyTool[] };
}

async function loadWorld(loaded: LoadedConversation, description: WorldDescription, folder: string): Promise<World> {
  const path = resolve(loaded.directory, description.module);
  const module: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw fault(
      loaded.path,
      `names a world module that cannot be loaded: ${error instanceof Error ? error.message : "it threw"}`,
    );
  });
  const create = (module as { readonly default?: unknown }).default;
  if (typeof create !== "function") throw fault(loaded.path, "names a world module without a default function");
  const world: unknown = create({ folder, faults: description.faults ?? {}, GameActionReceipt });
  if (!isWorld(world)) throw fault(loaded.path, "names a world module whose function returns no { handler, actions }");
  return world;
}

function isWorld(world: unknown): world is World {
  const given = world as
    | { readonly handler?: { readonly execute?: unknown }; readonly actions?: unknown }
    | null
    | undefined; // looked at, not trusted
  return typeof given?.handler?.execute === "function" && Array.isArray(given.actions);
}

function fault(path: string, words: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `${path}: the file ${words}.`, { subject: path });
}
