import { basename, join } from "node:path";
import type { AnyTool, ToolExecution } from "toolkernel";
import { comparePromiseAll, type KernelPlay } from "./compare-promise-all.ts";
import { type LoadedConversation, loadConversation, type Turn } from "./conversation-file.ts";
import { eventLine } from "./event-line.ts";
import { createLiveView, type EventListener } from "./live-view.ts";
import { importTools, type Played, type PlayedCall, playConversation } from "./play-conversation.ts";
import { beginRecording, type PlayRecording, type RecordFlags } from "./record-play.ts";
import { type Output, openScreen, type Screen, silentScreen } from "./screen.ts";
import { type ExitCode, type Summary, showComparison, showSummary, summaryLine } from "./show-summary.ts";
import { findUncertain, showJournal, showModelView, showReconciled } from "./show-world.ts";
import { onStage, type Stage, type Staged } from "./stage.ts";
import { countOf, plainWords } from "./wording.ts";
import { type OpenWorld, openWorld } from "./world.ts";

/** What `toolkernel run` is asked. */
export interface RunOptions {
  readonly path: string;
  readonly toolExecution: ToolExecution | undefined;
  readonly maxConcurrentTools: number | undefined;
  /** Whether the same calls are played again through `Promise.all`. */
  readonly compare: boolean;
  readonly json: boolean;
  /** Whether the temporary folders stay. */
  readonly keep: boolean;
  /** Where durable actions are kept; default in the workspace. */
  readonly journalPath: string | undefined;
  readonly recording: RecordFlags;
}

/**
 * Plays a conversation file against the servers it names and shows what happens. When `interrupt` fires
 * the running batch is cancelled, and what is known is shown.
 * @throws KernelError `INVALID_OPTIONS` for a file, server, limit or policy that cannot be used
 */
export async function runConversation(options: RunOptions, output: Output, interrupt: AbortSignal): Promise<ExitCode> {
  const loaded = await loadConversation(options.path);
  const recording = beginRecording(options.recording);
  const screen = options.json ? silentScreen : openScreen(output);
  const run: Run = { options, output, interrupt, loaded, screen, recording };
  const stageOptions = { keep: options.keep, readsFiles: options.compare, signal: interrupt };
  const kernel = await onStage(loaded, stageOptions, (stage) => playKernel(stage, run)).finally(() => finish(run));
  const summary = summarize(kernel, run);
  showSummary(summary, run.screen);
  const compared = options.compare ? await comparePromiseAll(kernel, { loaded, stageOptions }) : undefined;
  if (compared !== undefined) {
    showComparison(compared, { keep: options.keep, screen: run.screen });
  }
  // An interrupt may also have come while the comparison ran.
  const exitCode = summary.exitCode === 0 && interrupt.aborted ? 1 : summary.exitCode;
  if (options.json) {
    output.write(`${summaryLine({ ...summary, exitCode, interrupted: interrupt.aborted }, compared)}\n`);
  }
  return exitCode;
}

interface Run {
  readonly options: RunOptions;
  readonly output: Output;
  readonly interrupt: AbortSignal;
  readonly loaded: LoadedConversation;
  readonly screen: Screen;
  readonly recording: PlayRecording | undefined;
}

function finish({ recording, loaded, screen }: Run): void {
  const written = recording?.finish(loaded.conversation.title ?? basename(loaded.path)) ?? [];
  for (const path of written) screen.line(screen.paint.dim(`${path} is written`));
}

async function playKernel(stage: Stage, run: Run): Promise<KernelPlay> {
  const tools = await importTools(stage.servers, stage.workspace);
  const world = await openWorldOf(stage, run);
  try {
    showStart(stage, tools.length + (world?.tools.length ?? 0), run);
    const played = await playOn(stage, run, { tools, world });
    if (world === undefined) return { played, tools, uncertain: undefined };
    await showJournal(world, played, run.screen);
    return { played, tools, uncertain: await findUncertain(world, played) };
  } finally {
    await world?.close();
  }
}

/** A world's journal is where the user says, else in the workspace, and gone with it. */
async function openWorldOf({ workspace }: Stage, { loaded, options }: Run): Promise<OpenWorld | undefined> {
  if (loaded.conversation.world === undefined && options.journalPath === undefined) return undefined;
  return openWorld(loaded, options.journalPath ?? join(workspace, "journal.db"));
}

interface PlayTools {
  readonly tools: readonly AnyTool[];
  readonly world: OpenWorld | undefined;
}

function playOn(stage: Stage, run: Run, { tools, world }: PlayTools): Promise<Played> {
  const { loaded, options, output, screen, interrupt } = run;
  return playConversation({
    loaded,
    tools,
    world,
    workspace: stage.workspace,
    toolExecution: options.toolExecution,
    maxConcurrentTools: options.maxConcurrentTools,
    signal: interrupt,
    recorder: run.recording?.recorder,
    onTurn: (turn, number) => showTurn(turn, number, screen),
    onEvent: options.json
      ? (event) => output.write(`${eventLine(event)}\n`)
      : liveView({ stage, run, isRecorded: world !== undefined }),
    onReconciled: (told) => showReconciled(told, screen),
    onShown: (shown) => {
      if (world !== undefined) showModelView(shown, screen);
    },
  });
}

interface Shown {
  readonly stage: Stage;
  readonly run: Run;
  readonly isRecorded: boolean;
}

function liveView({ stage: { workspace }, run: { loaded, screen }, isRecorded }: Shown): EventListener {
  const { turns } = loaded.conversation;
  const callIdsOf = (turn: number): readonly string[] => turns[turn - 1]?.calls.map(({ id }) => id) ?? [];
  return createLiveView(screen, { workspace, callIdsOf, isRecorded });
}

function showStart(stage: Stage, tools: number, { screen, loaded }: Run): void {
  const servers = [
    ...stage.servers.map(({ name }) => name),
    ...(loaded.conversation.world === undefined ? [] : ["the world"]),
  ].join(", ");
  screen.line(screen.paint.bold(plainWords(loaded.conversation.title ?? loaded.path)));
  screen.line(screen.paint.dim(`${countOf(tools, "tool")} of ${servers}; workspace ${stage.workspace}`));
}

function showTurn(turn: Turn, number: number, screen: Screen): void {
  screen.line("");
  screen.line(screen.paint.bold(`response ${number}: ${countOf(turn.calls.length, "call")}`));
  for (const [speaker, words] of [
    ["user", turn.user],
    ["model", turn.text],
  ] as const) {
    if (words !== undefined) {
      screen.line(screen.paint.dim(`  ${speaker}: ${plainWords(words)}`));
    }
  }
}

function summarize({ result, workspace }: Staged<KernelPlay>, { options, interrupt, loaded }: Run): Summary {
  const { played } = result;
  // What the world has been asked about since is known now.
  const isOpen = ({ settled }: PlayedCall) => result.uncertain?.has(settled.operationId) ?? true;
  const uncertain = played.calls.filter((call) => call.settled.result.outcomeUncertain && isOpen(call)).length;
  return {
    title: loaded.conversation.title,
    played,
    uncertain,
    interrupted: interrupt.aborted,
    exitCode: uncertain > 0 ? 2 : interrupt.aborted ? 1 : 0,
    workspace,
    workspaceKept: options.keep,
  };
}
