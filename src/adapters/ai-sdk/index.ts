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
