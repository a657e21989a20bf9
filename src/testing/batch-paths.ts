import type { BatchResult } from "toolkernel";
import { checkOptions, mustBeFunction, type OptionCheck } from "../domain/check-options.ts";
import {
  type BatchPath,
  type BatchPathsOptions,
  checkPathsOptions,
  type PathHooks,
} from "./batch-paths/path-options.ts";
import { runPath } from "./batch-paths/path-run.ts";
import { namePlan, planPaths } from "./batch-paths/plan-paths.ts";

const HOOK_CHECKS: Readonly<Record<keyof PathHooks, OptionCheck>> = {
  setup: mustBeFunction,
  check: mustBeFunction,
  teardown: mustBeFunction,
};

/**
 * Gives the paths that a batch of the host's own tools can go: every order of completion, with faults before
 * and after the real effect of each call, and a cancellation at every step. Each path runs the real bodies and
 * hooks against the kernel, and holds it to its rules; what the host's world must look like then, the host
 * says in `check`.
 *
 * **shape**: `for (const path of generateBatchPaths(options)) test(path.name, () => path.run(hooks))` in any
 * runner. **order**: the same options give the same paths under the same names. Approvals that hooks ask for
 * are granted; `timeoutMs` is kept only for tools one of whose calls is to time out on the path.
 *
 * @throws KernelError `INVALID_OPTIONS` naming the option.
 */
export function generateBatchPaths(options: BatchPathsOptions): Iterable<BatchPath> {
  const checked = checkPathsOptions(options);
  const callNames = checked.calls.map(({ name }) => name);
  return {
    *[Symbol.iterator]() {
      for (const plan of planPaths(checked)) {
        const run = async (hooks: PathHooks = {}): Promise<BatchResult> => {
          checkOptions(hooks, HOOK_CHECKS, { path: "hooks" });
          return runPath(checked, plan, hooks);
        };
        yield { name: namePlan(plan, callNames), run };
      }
    },
  };
}
