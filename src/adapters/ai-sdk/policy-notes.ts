import { isFields, objectsOf } from "../wire/draft-call.ts";

/** What the kernel said after a batch, and the calls of that batch. */
export interface PolicyNote {
  readonly callIds: readonly string[];
  readonly text: string;
}

/**
 * The messages with each note as a user message after the tool message that answers its calls: where it
 * was said first, so that the messages before it stay the same from step to step (REP-4). A note that
 * stands there already is not put twice; one whose tool message is gone is left out.
 */
export function insertNotes<Message>(messages: readonly Message[], notes: readonly PolicyNote[]): Message[] {
  const inserted = [...messages];
  let from = 0;
  for (const note of notes) {
    const at = inserted.findIndex((message, index) => index >= from && answers(message, note.callIds));
    if (at === -1) {
      continue;
    }
    from = at + 1;
    if (!isNote(inserted[from], note.text)) {
      // A user message of plain text is a message of every version.
      inserted.splice(from, 0, { role: "user", content: note.text } as Message);
    }
  }
  return inserted;
}

function answers(message: unknown, callIds: readonly string[]): boolean {
  return (
    isFields(message) &&
    message.role === "tool" &&
    objectsOf(message.content).some((part) => callIds.some((callId) => callId === part.toolCallId))
  );
}

function isNote(message: unknown, text: string): boolean {
  return isFields(message) && message.role === "user" && message.content === text;
}
