import type { AiSdkKernel } from "toolkernel/ai-sdk";
import type { FakeModel } from "./language-models.ts";

/** One call of a step, and what the AI SDK would have made of it. */
export interface ExecutedCall {
  readonly toolCallId: string;
  readonly output?: unknown;
  readonly error?: string;
}

/** What a generation came to. */
export interface Generation {
  readonly steps: readonly (readonly ExecutedCall[])[];
  /** The messages of each request. */
  readonly requests: readonly (readonly object[])[];
  readonly closed: boolean;
}

interface CallPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
}

/**
 * Does with a kernel what `generateText` does: asks the model, executes the calls of a response all at
 * once, and goes on until there are none or the kernel says stop. The real one runs in the examples.
 */
export async function generate(
  kernel: AiSdkKernel,
  model: FakeModel,
  options: { readonly signal?: AbortSignal; readonly ownTools?: readonly string[]; readonly maxSteps?: number } = {},
): Promise<Generation> {
  const wrapped = kernel.model(model);
  const offered = [...Object.keys(kernel.tools), ...(options.ownTools ?? [])].map((name) => ({
    type: "function",
    name,
  }));
  const messages: object[] = [{ role: "user", content: "Go." }];
  const steps: ExecutedCall[][] = [];
  const requests: object[][] = [];
  for (let step = 0; step < (options.maxSteps ?? 20); step += 1) {
    const prepared = await kernel.prepareStep({ messages: [...messages] });
    requests.push(prepared.messages ?? [...messages]);
    // The fake model takes any options.
    const result = (await wrapped.doGenerate({ tools: offered } as never)) as { readonly content: readonly CallPart[] };
    const calls = result.content.filter((part) => part.type === "tool-call");
    if (calls.length === 0) {
      break;
    }
    const executed = await Promise.all(calls.map((call) => executeCall(kernel, call, options.signal)));
    steps.push(executed);
    messages.push({ role: "assistant", content: calls }, { role: "tool", content: executed });
    if (await kernel.stopWhen({ steps })) {
      return { steps, requests, closed: true };
    }
  }
  return { steps, requests, closed: false };
}

async function executeCall(
  kernel: AiSdkKernel,
  { toolCallId, toolName, input }: CallPart,
  abortSignal: AbortSignal | undefined,
): Promise<ExecutedCall> {
  const tool = kernel.tools[toolName];
  if (tool === undefined) {
    return { toolCallId, error: "the AI SDK's own" };
  }
  try {
    return { toolCallId, output: await tool.execute(JSON.parse(input), { toolCallId, abortSignal }) };
  } catch (error) {
    return { toolCallId, error: (error as Error).message };
  }
}
