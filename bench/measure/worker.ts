/**
 * The process of one contender with one workload: isolated, so that no runtime pays for another's heap,
 * compiled code or asynchronous context. Does a round when it is told to.
 */
import { type ContenderKey, loadContender } from "./contenders.ts";
import { loadWorkload, type WorkloadKey } from "./workloads.ts";

/** What a worker says. */
export type WorkerReport =
  | { readonly kind: "ready"; readonly name: string; readonly version: string }
  | { readonly kind: "sample"; readonly sample: Readonly<Record<string, number>> }
  | { readonly kind: "failed"; readonly message: string };

const [contenderKey, workloadKey, size = ""] = process.argv.slice(2);
const report = (message: WorkerReport): void => void process.send?.(message);
const fail = (error: unknown): void =>
  report({ kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });

try {
  // The parent has written these very keys.
  const contender = await loadContender(contenderKey as ContenderKey);
  const workload = await loadWorkload(workloadKey as WorkloadKey);
  const bout = await workload.prepare(contender, size);
  process.on("message", () => {
    bout.round().then((sample) => report({ kind: "sample", sample }), fail);
  });
  report({ kind: "ready", name: contender.name, version: contender.version });
} catch (error) {
  fail(error);
}
