import type { Workload } from "./workload.ts";

const LOADERS = {
  w1: async () => (await import("../workloads/no-op-calls.ts")).noOpCalls,
  w2: async () => (await import("../workloads/long-run.ts")).longRun,
  w3: async () => (await import("../workloads/mixed-response.ts")).mixedResponse,
  w4: async () => (await import("../workloads/large-arguments.ts")).largeArguments,
  w5: async () => (await import("../workloads/many-sessions.ts")).manySessions,
  w6: async () => (await import("../workloads/durable-actions.ts")).durableActions,
  w7: async () => (await import("../workloads/waiting-calls.ts")).waitingCalls,
} satisfies Record<string, () => Promise<Workload>>;

/** The key of a workload. */
export type WorkloadKey = keyof typeof LOADERS;

/** Loads a workload. */
export function loadWorkload(key: WorkloadKey): Promise<Workload> {
  return LOADERS[key]();
}
