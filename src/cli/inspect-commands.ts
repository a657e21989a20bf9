import { Argument, type Command, Option } from "commander";
import { type ChartFormat, type ChartName, chartPicture, replayText } from "toolkernel/inspect";
import { inspectRecording } from "./inspect-recording.ts";
import { readRecordingFile } from "./read-recording-file.ts";
import type { Output } from "./screen.ts";

/** What these commands need of their process. */
export interface InspectProcess {
  readonly stdout: Output;
  readonly interrupt: AbortSignal;
}

const CHARTS: readonly ChartName[] = ["run", "batch", "epoch", "tool-call", "action"];
const FORMATS: readonly ChartFormat[] = ["mermaid", "json", "svg"];

/** Adds the commands that show: `graph`, `inspect` and `replay`. */
export function addInspectCommands(program: Command, { stdout, interrupt }: InspectProcess): void {
  program
    .command("graph")
    .description("Prints a chart of the kernel, drawn from the machine that runs.")
    .addArgument(new Argument("[chart]", "which chart").choices([...CHARTS]).default("tool-call"))
    .addOption(new Option("--format <format>", "how").choices([...FORMATS]).default("mermaid"))
    .action((chart: ChartName, { format }: { readonly format: ChartFormat }) => {
      stdout.write(chartPicture(chart, format));
    });
  program
    .command("inspect")
    .description("Shows a recording in the inspector page, on this machine only, and follows it while it grows.")
    .argument("<file>", "the recording (JSON Lines)")
    .option("--out <page.html>", "write the page as one HTML file instead of serving it")
    .action(async (path: string, { out }: { readonly out?: string }) => {
      await inspectRecording({ path, out }, stdout, interrupt);
    });
  program
    .command("replay")
    .description("Prints a recording as plain text.")
    .argument("<file>", "the recording (JSON Lines)")
    .option("--charts", "also print which events the charts took")
    .action((path: string, { charts }: { readonly charts?: true }) => {
      const recording = readRecordingFile(path);
      if (recording.entries.length === 0) stdout.write("Nothing is recorded yet.\n");
      for (const line of replayText(recording, { charts: charts === true })) stdout.write(`${line}\n`);
    });
}
