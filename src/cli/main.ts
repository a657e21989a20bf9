#!/usr/bin/env node
/**
 * The program `toolkernel`. Owns the process: its signals, its output and its exit code. The first
 * interrupt asks the running batch to end; a second one ends the process as it always would.
 */
import { runCli } from "./commands.ts";

const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.once(name, () => interrupt.abort());
}

// A reader that has gone, such as `head`, changes nothing about the work.
process.stdout.on("error", () => undefined);

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: {
    write: (text) => process.stdout.write(text),
    isTerminal: process.stdout.isTTY === true,
    allowsColor: (process.env.NO_COLOR ?? "") === "",
  },
  writeError: (text) => process.stderr.write(text),
  interrupt: interrupt.signal,
});
