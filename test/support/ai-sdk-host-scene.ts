import {
  type AnyTool,
  createToolSession,
  defineTool,
  type GivenResponse,
  type ToolSession,
  type ToolSessionOptions,
} from "toolkernel";
import { type AiSdkKernel, type AiSdkSession, toAiSdk } from "toolkernel/ai-sdk";

export const SCHEMA = { type: "object", properties: { n: { type: "integer" } } } as const;

export function call(toolCallId: string, toolName: string, args: object = {}): object {
  return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(args) };
}

export function response(content: readonly object[], unified = "tool-calls"): object {
  return { content, finishReason: { unified, raw: unified }, usage: {} };
}

export const END = response([{ type: "text", text: "Done." }], "stop");

export interface Kernel extends AsyncDisposable {
  readonly kernel: AiSdkKernel;
  /** The responses that became batches. */
  readonly batches: GivenResponse[];
  readonly session: ToolSession;
}

export function kernelOf(tools: readonly AnyTool[], options: Partial<ToolSessionOptions> = {}): Kernel {
  const session = createToolSession({ tools, ...options });
  const batches: GivenResponse[] = [];
  const watched: AiSdkSession = {
    tools,
    execute: (given, executeOptions) => {
      batches.push(given);
      return session.execute(given, executeOptions);
    },
  };
  return { kernel: toAiSdk(watched), batches, session, [Symbol.asyncDispose]: () => session.close() };
}

export const read = defineTool({
  name: "read",
  description: "Reads",
  inputSchema: SCHEMA,
  risk: "readOnly",
  execute: (args) => args,
});
