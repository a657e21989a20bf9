import type { BatchResult, JournalEntry } from "toolkernel";
import type { Played } from "./play-conversation.ts";
import type { Reconciled } from "./reconcile-all.ts";
import type { Screen } from "./screen.ts";
import { renderTable } from "./summary-table.ts";
import { countOf, plainWords } from "./wording.ts";
import type { OpenWorld } from "./world.ts";

/** What the model is shown of a turn. */
export interface ShownTurn {
  readonly messages: BatchResult["messages"];
  /** Whether an earlier play had done it, so that nothing was run now. */
  readonly isKnown: boolean;
}

const SHOWN_CHARACTERS = 120;

/** Shows what became of an uncertain action. */
export function showReconciled({ action, conflictKeys, status }: Reconciled, screen: Screen): void {
  screen.line(screen.paint.dim(`  asked the world about ${action} (${conflictKeys.join(", ")}): ${status}`));
}

/** Shows the content of each result as the model gets it: what the host's projector lets through, no more. */
export function showModelView({ messages, isKnown }: ShownTurn, screen: Screen): void {
  if (isKnown)
    screen.line(
      screen.paint.dim(
        `  the journal has these results already: ${countOf(messages.length, "call")}, nothing was run again`,
      ),
    );
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const parts = message.content.map((part) =>
      part.type === "text" ? part.text : JSON.stringify("value" in part ? part.value : part),
    );
    const text = plainWords(parts.join(" "));
    const short = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
    screen.line(screen.paint.dim(`  the model sees #${message.callIndex} ${short}`));
  }
}

/** Shows what the journal holds of the actions of a play, one line each. */
export async function showJournal({ journal }: OpenWorld, played: Played, screen: Screen): Promise<void> {
  const ids = played.calls.map(({ settled }) => settled.operationId);
  const entries = (await Promise.all(ids.map((id) => journal.find(id)))).filter((entry) => entry !== undefined);
  screen.line("");
  screen.line(screen.paint.bold("The journal"));
  screen.line(renderTable(["operation", "action", "keys", "fence", "state", "receipt"], entries.map(cellsOf), screen));
}

/** Operation ids of a play whose outcome the journal does not know. */
export async function findUncertain({ journal }: OpenWorld, played: Played): Promise<ReadonlySet<string>> {
  const uncertain = new Set<string>();
  for (const { settled } of played.calls) {
    const entry = await journal.find(settled.operationId);
    if (entry?.state === "uncertain" || entry?.state === "dispatched") uncertain.add(settled.operationId);
  }
  return uncertain;
}

function cellsOf({ intent, fence, state, receipt }: JournalEntry): readonly string[] {
  const what =
    receipt === undefined ? "" : receipt.status === "committed" ? JSON.stringify(receipt.result) : receipt.code;
  return [
    intent.operationId.slice(0, 8),
    intent.action,
    intent.conflictKeys.join(" "),
    String(fence),
    state,
    plainWords(what),
  ];
}
