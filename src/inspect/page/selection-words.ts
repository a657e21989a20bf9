import type { CallStory } from "../story/call-story.ts";
import type { ActorStory } from "../story/run-story.ts";
import { callSentence } from "../timeline/call-words.ts";
import { type ShownChart, shownOf } from "./chart-view.ts";
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

/**
 * The chart of a call's durable action: as its life was told, until the call has ended; then in the state that
 * its receipt tells of, or what somebody found out since.
 */
export function actionChart({ action, resolvedAs }: CallStory, life: ActorStory | undefined): ShownChart | undefined {
  if (action === undefined) return life === undefined ? undefined : shownOf(life);
  const { status, disposition } = action;
  const isUndone = disposition === "conflictBlocked" || disposition === "cancelled";
  const state = status ?? (isUndone ? "abandoned" : undefined);
  if (life?.last !== undefined && life.last.state === state && resolvedAs === undefined) return shownOf(life);
  const shown = { drawing: "action", chart: "action" };
  if (state === "uncertain" && resolvedAs !== undefined)
    return { ...shown, state: resolvedAs, from: state, event: resolvedAs.toUpperCase() };
  return { ...shown, ...(state !== undefined && { state }) };
}

/** What is known of the durable action of a call, in a few words. */
export function actionWords(call: CallStory, life: ActorStory | undefined): string {
  const { action, resolvedAs } = call;
  const state = actionChart(call, life)?.state ?? "no receipt";
  const resolved = resolvedAs === undefined ? "" : ", resolved later";
  return `durable action: ${state}${action === undefined ? "" : `, ${action.disposition}`}${resolved}`;
}
