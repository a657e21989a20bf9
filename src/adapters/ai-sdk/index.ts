export { type AiSdkInput, type AiSdkPolicies, type AiSdkToolSet, fromAiSdkTools } from "./from-tools.ts";
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
