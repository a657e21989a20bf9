import { type Command, InvalidArgumentError, Option } from "commander";
import { type JsonValue, KernelError } from "toolkernel";
import {
  abandonOperation,
  copyJournal,
  listJournal,
  pruneJournal,
  type ReconcileTask,
  reconcileOperations,
  resolveOperation,
  showOperation,
} from "./journal-tasks.ts";
import type { JournalPlace } from "./open-journal.ts";
import type { Output } from "./screen.ts";
import { openShower, type Shower } from "./show-journal.ts";
import type { ExitCode } from "./show-summary.ts";
import { plainWords } from "./wording.ts";

/** What these commands need of their process. */
export interface JournalProcess {
  readonly stdout: Output;
  readonly interrupt: AbortSignal;
  /** Told, a line at a time, what a person should know who waits. */
  writeError(text: string): void;
  setExitCode(code: ExitCode): void;
}

interface PlaceFlags {
  readonly journal: string;
  readonly schema?: string;
  readonly json?: true;
}

interface ResolveFlags extends PlaceFlags {
  readonly status: "committed" | "rejected" | "failed";
  readonly evidence: JsonValue;
  readonly result?: JsonValue;
  readonly code?: string;
  readonly message?: string;
}

type Task<Flags extends PlaceFlags> = (flags: Flags, place: JournalPlace, shower: Shower) => Promise<ExitCode>;

/** A date, or a date and a time: what `Date.parse` makes of other texts may be any year, "45" is 2045. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const MS_OF_UNIT = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Adds `journal` with its commands, by which people look after durable actions. */
export function addJournalCommands(program: Command, cliProcess: JournalProcess): void {
  const journal = program
    .command("journal")
    .description("Maintains a journal of durable actions; docs/runbook.md in the package says when to do what.")
    .addHelpText("after", "\nExit code: 0 done, 2 something is uncertain, 1 an error or nothing to do.");
  addLooking(journal, cliProcess);
  addEnding(journal, cliProcess);
  addKeeping(journal, cliProcess);
}

function addLooking(journal: Command, cliProcess: JournalProcess): void {
  placed(journal.command("list"))
    .description("Lists open operations and runs; what dead processes left becomes uncertain or abandoned first.")
    .action((flags: PlaceFlags) => perform(cliProcess, flags, (_flags, place, shower) => listJournal(place, shower)));
  placed(journal.command("show"))
    .description("Shows everything that is known about an operation, its arguments and receipt included.")
    .argument("<operation>", "its id")
    .action((id: string, flags: PlaceFlags) =>
      perform(cliProcess, flags, (_flags, place, shower) => showOperation(place, id, shower)),
    );
}

function addEnding(journal: Command, cliProcess: JournalProcess): void {
  placed(journal.command("reconcile"))
    .description("Asks the handler's recover what became of an uncertain operation, or of all of them.")
    .argument("[operation]", "its id; without one, all that are uncertain")
    .requiredOption("--handler <module>", "a module whose default export is { handler }")
    .action((operationId: string | undefined, flags: PlaceFlags & { readonly handler: string }) =>
      perform(cliProcess, flags, ({ handler }, place, shower) =>
        reconcileOperations(place, reconcileTask(cliProcess, handler, operationId), shower),
      ),
    );
  placed(journal.command("resolve"))
    .description("Closes an uncertain operation by your word; the evidence is kept for good.")
    .argument("<operation>", "its id")
    .addOption(
      new Option("--status <status>", "what became of it")
        .choices(["committed", "rejected", "failed"])
        .makeOptionMandatory(),
    )
    .requiredOption("--evidence <text>", "how you know: words, or JSON", jsonOrText)
    .option("--result <json>", "the result of a committed one", json)
    .option("--code <code>", "a code for why it was rejected or failed")
    .option("--message <text>", "the same in words")
    .action((operationId: string, flags: ResolveFlags) =>
      perform(cliProcess, flags, (word, place, shower) => {
        checkWord(word);
        const { status, evidence, result, code, message } = word;
        return resolveOperation(place, { operationId, status, evidence, result, code, message }, shower);
      }),
    );
  placed(journal.command("abandon"))
    .description("Gives up an operation that waits for its keys and has not been dispatched.")
    .argument("<operation>", "its id")
    .action((id: string, flags: PlaceFlags) =>
      perform(cliProcess, flags, (_flags, place, shower) => abandonOperation(place, id, shower)),
    );
}

function reconcileTask(
  { interrupt: signal, writeError }: JournalProcess,
  handlerModule: string,
  operationId: string | undefined,
): ReconcileTask {
  const tellWait = (id: string): void => {
    const words = `Waiting for the handler's answer about ${id}, at most 30 seconds; Ctrl-C stops it.`;
    writeError(`toolkernel: ${plainWords(words)}\n`);
  };
  return { operationId, handlerModule, signal, tellWait };
}

function addKeeping(journal: Command, cliProcess: JournalProcess): void {
  placed(journal.command("prune"))
    .description("Forgets arguments and receipts of operations that have ended; their ids stay taken for ever.")
    .requiredOption("--before <time>", "a time such as 2026-01-31, or an age such as 30d, 12h, 90m", timeOrAge)
    .action((flags: PlaceFlags & { readonly before: number }) =>
      perform(cliProcess, flags, ({ before }, place, shower) => pruneJournal(place, before, shower)),
    );
  placed(journal.command("copy"))
    .description("Moves a SQLite journal, with its runs, into PostgreSQL; nothing in it may be open.")
    .requiredOption("--to <url>", "the connection string of the database")
    .action((flags: PlaceFlags & { readonly to: string }) =>
      perform(cliProcess, flags, ({ to }, place, shower) => copyJournal(place, to, shower)),
    );
}

function placed(command: Command): Command {
  return command
    .requiredOption("--journal <place>", "the path of a SQLite file, or a PostgreSQL connection string")
    .option("--schema <name>", "the schema in PostgreSQL, if it is not toolkernel")
    .option("--json", "one JSON object a line instead of text");
}

async function perform<Flags extends PlaceFlags>(
  { stdout, setExitCode }: JournalProcess,
  flags: Flags,
  task: Task<Flags>,
): Promise<void> {
  const shower = openShower(stdout, flags.json === true ? "json" : "text");
  setExitCode(await task(flags, { journal: flags.journal, schema: flags.schema }, shower));
}

/** What would not be kept is refused: the word of a person is final. */
function checkWord({ status, result, code, message }: ResolveFlags): void {
  if (status !== "committed" && result !== undefined)
    throw refusal("--result", "belongs to --status committed; say why it did not happen with --code and --message");
  if (status === "committed" && (code ?? message) !== undefined)
    throw refusal("--code and --message", "say why it did not happen; --status committed takes --result");
}

function refusal(option: string, what: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `${option} ${what}.`, { subject: option });
}

function timeOrAge(text: string): number {
  const age = /^(\d{1,6})([mhd])$/.exec(text);
  const unit = age?.[2] as keyof typeof MS_OF_UNIT | undefined; // the pattern lets no other in
  if (unit !== undefined) return Date.now() - Number(age?.[1]) * MS_OF_UNIT[unit];
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new InvalidArgumentError("It must be a time such as 2026-01-31, or an age such as 30d.");
  return time;
}

function json(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse gives nothing else
  } catch {
    throw new InvalidArgumentError("It is not valid JSON.");
  }
}

function jsonOrText(text: string): JsonValue {
  try {
    return json(text);
  } catch {
    return text;
  }
}
