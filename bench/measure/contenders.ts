import type { Contender } from "../contender.ts";

/** Every contender by its key; loaded one at a time, since each gets a process of its own. */
const LOADERS = {
  bare: async () => (await import("../contenders/bare.ts")).bare,
  kernel: async () => (await import("../contenders/kernel.ts")).kernel,
  kernelWatched: async () => (await import("../contenders/kernel.ts")).kernelWatched,
  kernelFull: async () => (await import("../contenders/kernel.ts")).kernelFull,
  kernelXState: async () => (await import("../contenders/kernel.ts")).kernelXState,
  xstateAlone: async () => (await import("../contenders/xstate-alone.ts")).xstateAlone,
  pi: async () => (await import("../peers/pi-agent-core.ts")).pi,
  piSequential: async () => (await import("../peers/pi-agent-core.ts")).piSequential,
  aiSdk: async () => (await import("../peers/ai-sdk.ts")).aiSdk,
  openaiAgents: async () => (await import("../peers/openai-agents.ts")).openaiAgents,
  openaiAgentsCapped: async () => (await import("../peers/openai-agents.ts")).openaiAgentsCapped,
  langGraph: async () => (await import("../peers/langgraph.ts")).langGraph,
} satisfies Record<string, () => Promise<Contender>>;

/** The key of a contender. */
export type ContenderKey = keyof typeof LOADERS;

/** Loads a contender. */
export function loadContender(key: ContenderKey): Promise<Contender> {
  return LOADERS[key]();
}
