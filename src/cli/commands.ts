import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { KernelError, type ToolExecution } from "toolkernel";
import { addInspectCommands } from "./inspect-commands.ts";
import { addJournalCommands } from "./journal-commands.ts";
import { runConversation } from "./run-conversation.ts";
import type { Output } from "./screen.ts";
import type { ExitCode } from "./show-summary.ts";
import { plainLines } from "./wording.ts";

/** What the command line needs of its process. */
export interface CliProcess {
  readonly stdout: Output;
  /** Told of errors, a line or several. */
  writeError(text: string): void;
  /** Fires when the user wants the work to end. */
  readonly interrupt: AbortSignal;
}

const TOOL_EXECUTIONS: readonly ToolExecution[] = ["safeParallel", "sequential", "parallel"];

/**
 * Runs the command line `toolkernel ...` and returns its exit code. Never rejects: what is wrong is
 * written to the error output, without a stack.
 */
export async function runCli(args: readonly string[], cliProcess: CliProcess): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(cliProcess, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written its own message; help and version are no errors.
      return error.exitCode === 0 ? 0 : 1;
    }
    cliProcess.writeError(`toolkernel: ${plainLines(messageOf(error))}\n`);
    return 1;
  }
}

function createProgram(cliProcess: CliProcess, setExitCode: (code: ExitCode) => void): Command {
  const program = new Command("toolkernel")
    .description("Executes the tool calls of LLM agents safely and concurrently.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cliProcess.stdout.write(text),
      writeErr: (text) => cliProcess.writeError(text),
    });
  addRunCommand(program, cliProcess, setExitCode);
  addInspectCommands(program, cliProcess);
  addJournalCommands(program, { ...cliProcess, setExitCode });
  return program;
}

/** The manifest lies two folders up, both from this file and from the built program. */
function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  // True because a package without a version cannot have been published.
  return (manifest as { readonly version: string }).version;
}

interface RunFlags {
  readonly mode?: ToolExecution;
  readonly maxConcurrent?: number;
  readonly compare?: "promise-all";
  readonly json?: true;
  readonly keep?: true;
  readonly journal?: string;
  readonly record?: string;
  readonly report?: string;
  readonly withContent?: true;
}

function addRunCommand(program: Command, cliProcess: CliProcess, setExitCode: (code: ExitCode) => void): void {
  program
    .command("run")
    .description("Plays a conversation file through the kernel, against real MCP servers.")
    .argument("<file>", "the conversation file (JSON)")
    .addOption(new Option("--mode <mode>", "which calls may overlap").choices([...TOOL_EXECUTIONS]))
    .option("--max-concurrent <n>", "how many calls run at once", positiveInteger)
    .addOption(
      new Option("--compare <how>", "play the same calls again the way most hosts do").choices(["promise-all"]),
    )
    .option("--json", "one JSON object a line instead of text")
    .option("--keep", "keep the temporary folders")
    .option("--journal <path>", "keep the durable actions of the file's world here, and go on from what is there")
    .option("--report <out.html>", "write a timeline of the kernel's play")
    .option("--record <out.jsonl>", "record the kernel's play, for inspect and replay")
    .option("--with-content", "let the report and the recording hold arguments, results and conflict keys")
    .addHelpText("after", "\nExit code: 0 every call settled, 2 something is uncertain, 1 an error.")
    .action(async (path: string, flags: RunFlags) => {
      const options = {
        path,
        toolExecution: flags.mode,
        maxConcurrentTools: flags.maxConcurrent,
        compare: flags.compare !== undefined,
        json: flags.json === true,
        keep: flags.keep === true,
        journalPath: flags.journal,
        recording: { record: flags.record, report: flags.report, content: flags.withContent === true },
      };
      setExitCode(await runConversation(options, cliProcess.stdout, cliProcess.interrupt));
    });
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  }
  return value;
}

/**
 * A KernelError says what to do, and an error of the operating system which path it is about; of any other error
 * the place in the code is no help to a user either.
 */
function messageOf(error: unknown): string {
  if (error instanceof KernelError) {
    return error.message;
  }
  if (error instanceof Error && "syscall" in error) return error.message;
  return error instanceof Error ? `unexpected error: ${error.message}` : "unexpected error";
}
