import type { InspectionRecord, JsonObject, JsonValue } from "toolkernel";

/** An actor that has been made. */
export interface StartedActor {
  readonly sessionId: string;
  readonly id: string;
  readonly chart: string;
  /** The run that an actor of the run chart says it is of. */
  readonly runId?: string;
}

/** What an actor made of an event. */
export interface TakenEvent {
  readonly sessionId: string;
  readonly event: string;
  readonly state: string;
  readonly isDone: boolean;
  readonly facts: JsonObject;
}

const RUN_PREFIX = "run:";
/** XState tells every parent that a child is done; the drivers tell it themselves, and the charts ignore this. */
const CHILD_DONE = "xstate.done.actor.";
const MOST_FACT_CHARACTERS = 128;

/** Reads XState's word that an actor was made; `undefined` for every other inspection event. */
export function readActor(inspectionEvent: InspectionRecord): StartedActor | undefined {
  if (inspectionEvent.type !== "@xstate.actor") return undefined;
  const actor = fieldsOf(inspectionEvent.actorRef);
  const chart = fieldsOf(actor.logic).id;
  if (!isText(actor.sessionId) || !isText(actor.id) || !isText(chart)) return undefined;
  const { sessionId, id } = actor;
  return { sessionId, id, chart, ...(id.startsWith(RUN_PREFIX) && { runId: id.slice(RUN_PREFIX.length) }) };
}

/** Reads XState's word of an actor's new snapshot; `undefined` for every other inspection event. */
export function readTransition(inspectionEvent: InspectionRecord): TakenEvent | undefined {
  if (inspectionEvent.type !== "@xstate.snapshot") return undefined;
  const { sessionId } = fieldsOf(inspectionEvent.actorRef);
  const { snapshot, event } = inspectionEvent as { readonly snapshot?: unknown; readonly event?: unknown }; // fields of this type alone
  const { value, status, context } = fieldsOf(snapshot);
  const { type } = fieldsOf(event);
  if (!isText(sessionId) || !isText(type) || type.startsWith(CHILD_DONE)) return undefined;
  return { sessionId, event: type, state: pathOf(value), isDone: status !== "active", facts: factsOf(context) };
}

/** `{ preparing: "lookup" }` becomes `preparing.lookup`; the charts have no parallel regions. */
function pathOf(value: unknown): string {
  if (isText(value)) return value;
  const [inner] = Object.entries(fieldsOf(value));
  return inner === undefined ? "" : `${inner[0]}.${pathOf(inner[1])}`;
}

function factsOf(context: unknown): JsonObject {
  const facts: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(fieldsOf(context))) {
    if (isText(value)) facts[name] = value.slice(0, MOST_FACT_CHARACTERS);
    else if (typeof value === "number" || typeof value === "boolean") facts[name] = value;
  }
  return facts;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
