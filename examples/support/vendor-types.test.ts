import type { Content, Tool as GeminiTool, GenerateContentResponse } from "@google/genai";
import type { ModelMessage } from "ai";
import type OpenAI from "openai";
import { createToolSession, defineTool } from "toolkernel";
import { toAiSdkMessages } from "toolkernel/ai-sdk";
import { callsFromGemini, toGeminiContents, toGeminiTools } from "toolkernel/gemini";
import { callsFromResponses, toResponsesItems, toResponsesTools } from "toolkernel/openai";
import { expect, it } from "vitest";

const look = defineTool({
  name: "look",
  description: "Looks.",
  inputSchema: { type: "object" },
  risk: "readOnly",
  execute: () => "nothing",
});

it("what goes out has the types of the providers' own packages, and what comes in is theirs", async () => {
  await using session = createToolSession({ tools: [look] });
  const batch = await session.execute([{ id: "call_1", name: "look", arguments: {} }]).result;

  // The type checker holds these lines; a version that no longer fits does not compile.
  const responsesTools: OpenAI.Responses.Tool[] = toResponsesTools([look]);
  const geminiTools: GeminiTool[] = toGeminiTools([look]);
  const contents: Content[] = toGeminiContents(batch);
  const messages: ModelMessage[] = toAiSdkMessages(batch);
  // The SDK wants an `id` on the output of a local shell, which its own API knows by its `call_id`.
  const items = toResponsesItems(batch).filter((item) => !("type" in item) || item.type !== "local_shell_call_output");
  const input = items satisfies readonly object[] as OpenAI.Responses.ResponseInputItem[];
  const readers: [(response: OpenAI.Responses.Response) => unknown, (response: GenerateContentResponse) => unknown] = [
    callsFromResponses,
    callsFromGemini,
  ];

  expect([responsesTools, geminiTools, contents, messages, input].map((list) => list.length)).toEqual([1, 1, 1, 1, 1]);
  expect(readers).toHaveLength(2);
});
