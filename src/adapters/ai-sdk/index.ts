export { type FromAiSdkModelOptions, fromAiSdkModel } from "./from-model.ts";
export { type AiSdkInput, type AiSdkPolicies, type AiSdkToolSet, fromAiSdkTools } from "./from-tools.ts";
export type { AiSdkKernelOutput, AiSdkKernelSchema, AiSdkKernelTool } from "./kernel-tools.ts";
export type { AiSdkLanguageModel, AiSdkSpecification } from "./language-model.ts";
export type {
  AiSdkJson,
  AiSdkMessage,
  AiSdkOutput,
  AiSdkPart,
  AiSdkResponseLike,
  AiSdkToolMessage,
  AiSdkToolResult,
  AiSdkUserMessage,
} from "./message-shapes.ts";
export { callsFromAiSdk, toAiSdkMessages } from "./messages.ts";
export { type AiSdkKernel, type AiSdkSession, toAiSdk } from "./to-ai-sdk.ts";
