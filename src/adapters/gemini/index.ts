export { callsFromGemini, toGeminiContents, toGeminiTools } from "./gemini.ts";
export type {
  GeminiCandidateLike,
  GeminiContent,
  GeminiFunction,
  GeminiFunctionResponse,
  GeminiPart,
  GeminiResponseLike,
  GeminiTool,
} from "./gemini-shapes.ts";
