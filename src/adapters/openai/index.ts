export { callsFromChat, toChatMessages, toChatTools } from "./chat.ts";
export type {
  ChatChoiceLike,
  ChatCompletionLike,
  ChatFunction,
  ChatMessage,
  ChatMessageLike,
  ChatTool,
} from "./chat-shapes.ts";
export { fromOpenAIAgentsTools, type OpenAIAgentsPolicies, type OpenAIAgentsToolLike } from "./from-agents-tools.ts";
export { toResponsesCallId } from "./responses-call-id.ts";
export { callsFromResponses } from "./responses-calls.ts";
export { toResponsesItems, toResponsesTools } from "./responses-items.ts";
export type {
  ResponseLike,
  ResponsesBuiltInOutput,
  ResponsesItem,
  ResponsesMessage,
  ResponsesPart,
  ResponsesTool,
  ResponsesToolOutput,
  ShellOutput,
} from "./responses-shapes.ts";
