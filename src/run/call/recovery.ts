/**
 * Asks a tool, once, what became of a write whose outcome is unknown (UNC-7).
 * Owns: the question's signal and its deadline. Invariants: exactly one answer is told to the chart; a
 * throw, a time-out and nonsense all leave the write uncertain.
 */
import type { DurableOutcome } from "../../domain/action.ts";
import type { ToolResult } from "../../domain/content.ts";
import { findUnknownField, isDeclaredResult } from "../../domain/content.ts";
import { durableOutcomeOf } from "../../domain/durable-result.ts";
import { readReturn } from "../../settle/settle-call.ts";
import { FACTS } from "../facts.ts";
import { addDurableFacts } from "./durable-call.ts";
import type { CallRun } from "./run-call.ts";
import { createToolContext } from "./tool-context.ts";

/** A question that is open, or its answer. */
export interface Recovery {
  /** What the tool said became of the write; undefined while, or if, it does not know. */
  readonly answer: ToolResult | undefined;
  /** What a durable tool said of its action beside that. */
  readonly durable: DurableOutcome | undefined;
  /** Fires the question's signal, since the run was cancelled; the grace runs from here. */
  stop(): void;
}

/** Asks, bounded by the tool's time-out. */
export function askRecovery(call: CallRun): Recovery {
  const { core, cancellation } = call.owner;
  const { steady, limits } = core.settings;
  const controller = new AbortController();
  // Progress is of the executor; a question has none.
  const plain = createToolContext(call, { signal: controller.signal, progress: () => undefined });
  const tool = call.prepared?.tool;
  const context = tool?.durable === undefined ? plain : addDurableFacts(plain, tool, call);
  const recovery = {
    answer: undefined as ToolResult | undefined,
    durable: undefined as DurableOutcome | undefined,
    stop(): void {
      core.deadlines.disarm(deadline);
      deadline = core.deadlines.arm(steady.now() + limits.cancellationGraceMs, () => call.tell(FACTS.GRACE_OVER));
      controller.abort(cancellation.reason);
    },
  };
  let isOpen = true;
  const end = (answer: unknown): void => {
    if (!isOpen) return;
    isOpen = false;
    core.deadlines.disarm(deadline);
    const read = readAnswer(answer, limits.maxResultCharacters);
    if (read === undefined) {
      call.tell(FACTS.UNRESOLVED);
      return;
    }
    recovery.answer = read.result;
    recovery.durable = durableOutcomeOf(answer);
    call.tell(FACTS[read.means]);
  };
  const timeoutMs = tool?.timeoutMs ?? limits.toolTimeoutMs;
  let deadline = core.deadlines.arm(steady.now() + timeoutMs, () => {
    controller.abort(new DOMException("The tool's recover timed out.", "TimeoutError"));
    end(undefined);
  });
  // As for `execute`: the arguments are of the tool's own type by its schema.
  const ask = async (): Promise<unknown> => call.prepared?.tool.recover?.(call.prepared.arguments as never, context);
  ask().then(end, () => end(undefined));
  return recovery;
}

function readAnswer(
  answer: unknown,
  maxCharacters: number,
): { readonly means: "CONFIRMED" | "DISPROVED"; readonly result: ToolResult } | undefined {
  // A misspelled field may be the one that says what happened: such an answer is none (UNC-7).
  if (!isDeclaredResult(answer) || findUnknownField(answer) !== undefined) return undefined;
  const { means, result } = readReturn(answer, { maxCharacters, isWrite: true });
  if (means === "lost") return undefined;
  return { means: means === "success" ? "CONFIRMED" : "DISPROVED", result };
}
