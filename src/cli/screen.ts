import colors from "picocolors";
import type { FailureCategory, Outcome } from "toolkernel";

/** Where a command writes, and what it may use there. */
export interface Screen {
  /** Writes one line, or several with line feeds between them. */
  line(text: string): void;
  readonly paint: Paint;
  /** Whether a person looks at a terminal; else output is plain. */
  readonly isTerminal: boolean;
}

/** The colours in use; each returns its text unchanged where there are none. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
}

/** An outcome in its colour, with the failure category where that says more. */
export function outcomeText(paint: Paint, outcome: Outcome, failureCategory: FailureCategory | undefined): string {
  const color = outcome === "succeeded" ? paint.good : outcome === "uncertain" ? paint.warn : paint.bad;
  const why = failureCategory === undefined || failureCategory === outcome ? "" : ` (${failureCategory})`;
  return `${color(outcome)}${why}`;
}

/** What a process offers a command. */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Whether colours may be used on a terminal; `NO_COLOR` says no. */
  readonly allowsColor: boolean;
}

/** Makes the screen of an output. Colours need a terminal: a pipe gets none, whatever CI variables say. */
export function openScreen(output: Output): Screen {
  const palette = colors.createColors(output.isTerminal && output.allowsColor);
  return {
    line: (text) => output.write(`${text}\n`),
    isTerminal: output.isTerminal,
    paint: { bold: palette.bold, dim: palette.dim, good: palette.green, bad: palette.red, warn: palette.yellow },
  };
}

/** A screen that shows nothing. */
export const silentScreen: Screen = openScreen({ write: () => undefined, isTerminal: false, allowsColor: false });
