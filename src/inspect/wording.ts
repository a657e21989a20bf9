/** A time as a person reads it: `40 ms`, `1.25 s`, `3 min 5 s`. */
export function shortTime(milliseconds: number): string {
  const rounded = Math.max(0, Math.round(milliseconds));
  if (rounded < 1_000) return `${rounded} ms`;
  if (rounded < 60_000) return `${trimmed(rounded / 1_000)} s`;
  const seconds = Math.round(rounded / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How many, with the word for it. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function trimmed(seconds: number): string {
  return String(Number(seconds.toFixed(seconds < 10 ? 2 : 1)));
}
