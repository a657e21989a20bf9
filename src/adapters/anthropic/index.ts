export { callsFromAnthropic, toAnthropicMessages, toAnthropicTools } from "./anthropic.ts";
export type {
  AnthropicImageType,
  AnthropicMessageLike,
  AnthropicPart,
  AnthropicText,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicUserMessage,
} from "./anthropic-shapes.ts";
