/** Longest part of a foreign key that a message may show, in UTF-16 units. */
const MAX_KEY_CHARACTERS = 64;
/** Longest pointer that a message may show, in UTF-16 units. */
const MAX_POINTER_CHARACTERS = 320;

/**
 * Cuts foreign text so that it may stand in a message: at most `maxCharacters` UTF-16 units (64 unless
 * said otherwise) and an ellipsis, control characters replaced, well-formed.
 */
export function clipText(text: string, maxCharacters: number = MAX_KEY_CHARACTERS): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this replaces
  return cut.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "\ufffd");
}

/** One segment of a JSON pointer, `~` and `/` escaped (RFC 6901); exact, for keeping, not for messages. */
export function escapeSegment(segment: string | number): string {
  return String(segment).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The exact JSON pointer of a path; `""` is the whole. Unbounded: for messages use {@link showPointer}. */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${escapeSegment(segment)}`).join("");
}

/** A path as a bounded JSON pointer for messages: long keys and long pointers are cut. `""` is the whole. */
export function showPointer(path: readonly (string | number)[]): string {
  const pointer = path.map((segment) => `/${clipText(escapeSegment(segment))}`).join("");
  return pointer.length > MAX_POINTER_CHARACTERS
    ? `${pointer.slice(0, MAX_POINTER_CHARACTERS).toWellFormed()}…`
    : pointer;
}

/** `at "/a/b"` for a message, or `at the top level` for the whole; bounded. */
export function showPlace(path: readonly (string | number)[]): string {
  return path.length === 0 ? "at the top level" : `at "${showPointer(path)}"`;
}
