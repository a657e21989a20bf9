/** How what code of a host's has thrown, or said of a refusal, is read: never trusted, never without end. */
import { isToolError } from "./errors.ts";
import { FAILURE_CATEGORIES, type FailureCategory } from "./failure.ts";

/** The most that is shown of what was thrown or said; a message can be as long as a tool likes. */
const MAX_SAID_CHARACTERS = 10_000;

/** A text of a host's or a tool's; **bounds**: 10,000 characters, or `maxCharacters` where those are fewer. */
export function clipSaid(text: string, maxCharacters: number = MAX_SAID_CHARACTERS): string {
  const most = Math.min(MAX_SAID_CHARACTERS, maxCharacters);
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
}

/** The text of whatever was thrown, bounded as by {@link clipSaid}; reading it never throws. */
export function messageOf(error: unknown, maxCharacters?: number): string {
  try {
    const text: unknown = error instanceof Error ? error.message || error.name : error;
    return typeof text === "string" ? clipSaid(text, maxCharacters) : "The tool threw a value that is not an Error.";
  } catch {
    return "The tool threw an error that cannot be read.";
  }
}

/** The category that a `ToolError` declares; of every other throw the one given here. Never throws. */
export function categoryOf(error: unknown, otherwise: FailureCategory): FailureCategory {
  if (!isToolError(error)) return otherwise;
  try {
    return readCategory(error.failureCategory);
  } catch {
    return "unspecified";
  }
}

/** A category that somebody named; `unspecified` for anything else. */
export function readCategory(category: unknown): FailureCategory {
  return FAILURE_CATEGORIES.find((known) => known === category) ?? "unspecified";
}
