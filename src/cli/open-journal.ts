import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { GameActionDispatcher, type GameActionHandler, type Journal, KernelError, type RunStore } from "toolkernel";
import { openPostgresJournal, openPostgresRunStore } from "toolkernel/postgres";
import { openSqliteJournal, openSqliteRunStore } from "toolkernel/sqlite";

/** Where a journal is: the path of a file, or a connection string with a schema. */
export interface JournalPlace {
  readonly journal: string;
  readonly schema: string | undefined;
}

/** Whether a place is a database and not a file. */
export function isDatabase(journal: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(journal);
}

/** What looks after a journal makes none: of a place that was mistyped it would say that nothing is open. */
const mustExist = true;

/**
 * Opens the journal at a place, for as long as it is used. A place where there is none is refused, and left as it is.
 * @throws KernelError `INVALID_OPTIONS`, `JOURNAL_*`
 */
export async function withJournal<Answer>(
  place: JournalPlace,
  use: (journal: Journal) => Promise<Answer>,
): Promise<Answer> {
  checkThere(place);
  const { journal: address, schema } = place;
  const journal = await (isDatabase(address)
    ? openPostgresJournal(address, { schema, mustExist })
    : openSqliteJournal(address, { mustExist }));
  try {
    return await use(journal);
  } finally {
    await journal.close();
  }
}

/**
 * Opens the run store at a place, for as long as it is used.
 * @throws KernelError `INVALID_OPTIONS`, `JOURNAL_*`
 */
export async function withRunStore<Answer>(
  place: JournalPlace,
  use: (store: RunStore) => Promise<Answer>,
): Promise<Answer> {
  checkThere(place);
  const { journal: address, schema } = place;
  const store = await (isDatabase(address)
    ? openPostgresRunStore(address, { schema, mustExist })
    : openSqliteRunStore(address, { mustExist }));
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Makes a dispatcher for a person's commands: it asks the handler of a module about uncertain operations,
 * and dispatches nothing.
 * @throws KernelError `INVALID_OPTIONS` when the module gives no handler
 */
export async function personsDispatcher(
  journal: Journal,
  handlerModule: string | undefined,
): Promise<GameActionDispatcher> {
  const recover = handlerModule === undefined ? undefined : await loadRecover(handlerModule);
  const execute = (): never => {
    throw new KernelError("KERNEL_STUCK", "The journal commands dispatch nothing.");
  };
  return new GameActionDispatcher({ journal, handler: { execute, ...(recover !== undefined && { recover }) } });
}

function checkThere({ journal, schema }: JournalPlace): void {
  if (isDatabase(journal)) return;
  if (schema !== undefined) throw refusal("--schema", "belongs to a PostgreSQL journal, and this one is a file");
  if (!existsSync(journal)) throw refusal("--journal", `names ${journal}, which does not exist`);
}

async function loadRecover(path: string): Promise<NonNullable<GameActionHandler["recover"]>> {
  const module: unknown = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    const said = error instanceof Error ? error.message : "it threw";
    throw refusal("--handler", `names ${path}, which cannot be loaded: ${said}`);
  });
  const handler = (module as { readonly default?: { readonly handler?: Partial<GameActionHandler> } }).default?.handler; // looked at, not trusted
  if (typeof handler?.recover === "function") return handler.recover.bind(handler);
  throw refusal("--handler", `names ${path}, whose default export is not { handler } with a recover function`);
}

function refusal(option: string, what: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `${option} ${what}.`, { subject: option });
}
