/** How much is explored and what is printed: little and nothing in `npm test`, all of it in `npm run test:model`. */
export const isReporting = process.env.MODEL_REPORT === "1";

/** Whether many runs of the suite are made, each of which must be short: of mutants, say. */
export const isSmall = process.env.MODEL_SCALE === "small";

/** Prints lines of the report. */
export function report(lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n\n`);
}
