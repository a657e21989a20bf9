import { runCli } from "../../src/cli/commands.ts";

/** What a command has come to. */
export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly errors: string;
}

/** The terminal that a command is given; without more it is none, and colours are allowed. */
export interface CommandSettings {
  readonly isTerminal?: boolean;
  readonly allowsColor?: boolean;
  readonly interrupt?: AbortController;
  /** Is told all output so far. */
  onOutput?(text: string): void;
}

/** Runs a command of the program in this process. */
export async function runCommand(args: readonly string[], settings: CommandSettings = {}): Promise<Ran> {
  let out = "";
  let errors = "";
  const exitCode = await runCli(args, {
    stdout: {
      write: (text) => {
        out += text;
        settings.onOutput?.(out);
      },
      isTerminal: settings.isTerminal ?? false,
      allowsColor: settings.allowsColor ?? true,
    },
    writeError: (text) => {
      errors += text;
    },
    interrupt: (settings.interrupt ?? new AbortController()).signal,
  });
  return { exitCode, out, errors };
}
