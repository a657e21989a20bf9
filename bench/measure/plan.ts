import type { ContenderKey } from "./contenders.ts";
import type { BoutPlan } from "./run-bouts.ts";

const KERNELS: readonly ContenderKey[] = ["kernel", "kernelWatched", "kernelFull", "kernelXState"];
const PEERS: readonly ContenderKey[] = ["pi", "aiSdk", "openaiAgents", "langGraph"];

/** Everything that `npm run bench` measures, in order. */
export const PLAN: readonly BoutPlan[] = [
  ...["1", "10", "100", "1000", "10000"].map((size) => ({
    workload: "w1" as const,
    size,
    contenders: ["bare" as const, ...KERNELS, "xstateAlone" as const, ...PEERS],
    warmUps: 1,
    rounds: 5,
  })),
  { workload: "w2", size: "1000", contenders: ["bare", "kernel", "kernelXState", "pi"], warmUps: 0, rounds: 3 },
  // Some cost so much more with every turn that a thousand turns would take minutes.
  { workload: "w2", size: "200", contenders: ["bare", "kernel", ...PEERS], warmUps: 0, rounds: 3 },
  {
    workload: "w3",
    size: "60",
    contenders: [
      "bare",
      "kernel",
      "kernelXState",
      "pi",
      "piSequential",
      "aiSdk",
      "openaiAgents",
      "openaiAgentsCapped",
      "langGraph",
    ],
    warmUps: 1,
    rounds: 5,
  },
  ...["text:100000", "text:1000000", "records:100000", "records:1000000"].map((size) => ({
    workload: "w4" as const,
    size,
    contenders: ["bare" as const, "kernel" as const, ...PEERS],
    warmUps: 3,
    rounds: 5,
  })),
  { workload: "w5", size: "1000", contenders: ["bare", "kernel", ...PEERS], warmUps: 2, rounds: 5 },
  { workload: "w6", size: "", contenders: ["kernel"], warmUps: 1, rounds: 5 },
  { workload: "w7", size: "10000", contenders: ["kernel", "kernelXState", "pi"], warmUps: 1, rounds: 3 },
];

/** The plan with few rounds of everything: whether it runs, not how fast. */
export function quick(plan: readonly BoutPlan[]): BoutPlan[] {
  return plan.map((bout) => ({ ...bout, warmUps: 0, rounds: 1 }));
}
