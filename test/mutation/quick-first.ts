/**
 * Which test files a mutant meets first: those that found the last ones, then the quickest, by what was measured in
 * this run. Mutants of one place are mostly found by one file, and most of them by a quick one.
 */
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node";

const found = new Map<string, number>();
const milliseconds = new Map<string, number>();
let turn = 0;

export class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((one, other) => rank(one) - rank(other));
  }
}

/** Notes what each file has done. */
export const fileNotes: Reporter = {
  onTestModuleEnd(file) {
    turn += 1;
    const { duration } = file.diagnostic();
    if (file.state() === "failed") found.set(file.moduleId, turn);
    else milliseconds.set(file.moduleId, Math.max(milliseconds.get(file.moduleId) ?? 0, duration));
  },
};

function rank({ moduleId }: TestSpecification): number {
  const last = found.get(moduleId);
  return last === undefined ? (milliseconds.get(moduleId) ?? 0) : last - 1e9;
}
