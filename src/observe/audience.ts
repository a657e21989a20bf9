import { readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { Audience, Delta, KernelEventKind, KernelEventMap } from "../domain/event.ts";
import type { Message } from "../domain/message.ts";

/** Whoever looks: `internal` sees everything, `owner` what is the owner's or public, `public` what is public. */
const SEEN_BY: Readonly<Record<Audience, readonly Audience[]>> = {
  internal: ["internal", "owner", "public"],
  owner: ["owner", "public"],
  public: ["public"],
};

/**
 * The stock policy: a filter of the events that a viewer may see (OBS-2). Only `internal` viewers see
 * anything about tools beyond a question for an approval. An event without a known audience is `internal`.
 * @throws KernelError `INVALID_OPTIONS` for a viewer that is not one of the three.
 */
export function audienceFilter(viewer: Audience): (event: { readonly audience: Audience }) => boolean {
  if (typeof viewer !== "string" || !Object.hasOwn(SEEN_BY, viewer)) {
    const message = "The viewer of audienceFilter must be one of internal, owner, public.";
    throw new KernelError("INVALID_OPTIONS", message, { subject: "viewer" });
  }
  const seen = SEEN_BY[viewer];
  return viewer === "internal" ? () => true : (event) => readGiven("event", () => seen.includes(event.audience));
}

/** Who may see an event, by its kind and, where messages are concerned, by what they hold (OBS-2). */
export function audienceOf<Kind extends KernelEventKind>(kind: Kind, fields: KernelEventMap[Kind]): Audience {
  switch (kind as KernelEventKind) {
    case "runStarted":
    case "runResumed":
    case "turnStarted":
    case "modelRequestStarted":
    case "turnEnded":
    case "runEnded":
      return "public";
    case "messageStarted":
    case "messageQueued":
    case "approvalRequested":
      return "owner";
    case "messageUpdated":
      return audienceOfDelta((fields as KernelEventMap["messageUpdated"]).delta); // the fields of that kind
    case "messageEnded":
      return audienceOfMessage((fields as KernelEventMap["messageEnded"]).message); // the fields of that kind
    default:
      return "internal";
  }
}

/** A provider may stream what is not a delta at all; only what is known to be harmless is shown. */
function audienceOfDelta(delta: Delta | undefined): Audience {
  return delta?.type === "text" || delta?.type === "reasoning" ? "owner" : "internal";
}

/** A response with tool calls holds their arguments, so all of it is internal; its text was streamed before. */
function audienceOfMessage(message: Message): Audience {
  switch (message.role) {
    case "user":
      return "owner";
    case "assistant":
      return message.content.some(({ type }) => type === "toolCall") ? "internal" : "owner";
    case "toolResult":
    case "policy":
      return "internal";
  }
}
