/** How a time in milliseconds is shown. */
export function shortTime(milliseconds: number): string {
  return milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** A key without the workspace's path in it. */
export function shortKey(key: string, workspace: string): string {
  return key.replace(`file:${workspace}/`, "file:");
}

/** Call labels with runs of numbers drawn together: `#0-#3 #5`. */
export function callNumbers(labels: readonly string[]): string {
  const runs: { from: string; to: string }[] = [];
  for (const label of labels) {
    const last = runs.at(-1);
    if (last !== undefined && numberOf(label) === numberOf(last.to) + 1) {
      last.to = label;
    } else {
      runs.push({ from: label, to: label });
    }
  }
  return runs.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join(" ");
}

/** What others wrote, made safe for a terminal: on one line, without control characters. */
export function plainWords(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** As {@link plainWords}, for what has several lines. */
export function plainLines(text: string): string {
  return text.toWellFormed().replaceAll(/[^\P{Cc}\n]+/gu, " ");
}

/** How many, with the word for it. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function numberOf(label: string): number {
  return /^#\d+$/.test(label) ? Number(label.slice(1)) : Number.NaN;
}
