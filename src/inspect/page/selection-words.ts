import type { ActionFacts } from "toolkernel";
import type { ActorStory } from "../story/run-story.ts";
import { callSentence } from "../timeline/call-words.ts";
import type { ShownChart } from "./chart-view.ts";
import type { InspectorModel } from "./inspector-model.ts";

/** What stands in place of a chart that was not recorded. */
export const NO_CHART =
  "No chart is recorded for this. A session tells its charts to the recorder's inspect; a session's run has none, an Agent's has.";

/** The heading over the chart. */
export function selectionTitle({ selection, call }: InspectorModel): string {
  if (call !== undefined) return `call #${call.callIndex} ${call.toolName}`;
  if (selection === undefined) return "nothing yet";
  const [kind, turn, epoch] = selection.id.split(":");
  if (kind === "batch") return `response ${turn}`;
  return kind === "epoch" ? `epoch ${epoch} of response ${turn}` : `run ${selection.runId}`;
}

/** Where the chart is and how it came there; for a call without a chart what else is known. */
export function selectionWords({ actor, call }: InspectorModel): string {
  const { last, from } = actor ?? {};
  if (last === undefined) return call === undefined ? "" : callSentence(call);
  if (from === undefined || last.event === "xstate.init") return `${last.state}, where it begins`;
  return from === last.state ? `${last.state}, after ${last.event}` : `${from} → ${last.state} by ${last.event}`;
}

/** What the chart remembers, on one line. */
export function selectionFacts(actor: ActorStory | undefined): string {
  return Object.entries(actor?.last?.facts ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join("   ");
}

/** The chart of a durable action, in the state that its receipt tells of. */
export function actionChart({ status, disposition }: ActionFacts): ShownChart {
  const isUndone = disposition === "conflictBlocked" || disposition === "cancelled";
  const state = status ?? (isUndone ? "abandoned" : undefined);
  return { drawing: "action", chart: "action", ...(state !== undefined && { state }) };
}
