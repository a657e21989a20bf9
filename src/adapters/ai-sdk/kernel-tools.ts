import { toolJsonSchema } from "toolkernel";
import type { JsonObject } from "../../domain/json.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import type { AnyTool } from "../../domain/tool.ts";
import { contentText } from "../wire/content-text.ts";
import { isFields, objectsOf } from "../wire/draft-call.ts";
import type { AiSdkJson, AiSdkOutput } from "./message-shapes.ts";
import { toAiSdkOutput } from "./messages.ts";

/** A tool of a session as the AI SDK takes it. */
export interface AiSdkKernelTool {
  readonly description: string;
  readonly inputSchema: AiSdkKernelSchema;
  readonly execute: (
    input: unknown,
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<unknown>;
  readonly toModelOutput: (given: unknown) => AiSdkKernelOutput;
}

/** What a tool gives the model; an error is thrown instead. */
export type AiSdkKernelOutput = Extract<AiSdkOutput, { readonly type: "text" | "json" | "content" }>;

/** A schema that shows the model a JSON Schema and takes every input: the kernel validates. */
export interface AiSdkKernelSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** Runs a call by its id, and gives what `execute` returns. */
export type ExecuteCall = (callId: string, signal: AbortSignal | undefined) => Promise<unknown>;

/**
 * Presents a tool of the session to the AI SDK.
 * @throws KernelError `INVALID_TOOL_SCHEMA` when the tool has no JSON Schema
 */
export function presentTool(tool: AnyTool, executeCall: ExecuteCall): AiSdkKernelTool {
  return {
    description: tool.description.toWellFormed(),
    inputSchema: presentSchema(toolJsonSchema(tool)),
    // The input is the one that the recorded response holds; the kernel parses that itself (PREP-11).
    execute: (_input, { toolCallId, abortSignal }) => executeCall(toolCallId, abortSignal),
    toModelOutput,
  };
}

/**
 * What `execute` returns for a settled call: its text, its JSON value, or a `content` output.
 * @throws an `Error` with the result's text when the result is an error
 */
export function showResult(result: ToolResultMessage): unknown {
  if (result.isError) {
    throw new Error(contentText(result.content));
  }
  const output = toAiSdkOutput(result);
  return output.type === "content" ? output : output.value;
}

/** The AI SDK's own schemas are known by this mark, in every version. */
const AI_SDK_SCHEMA = Symbol.for("vercel.ai.schema");

function presentSchema(schema: JsonObject): AiSdkKernelSchema {
  const show = () => ({ ...schema });
  return {
    [AI_SDK_SCHEMA]: true,
    jsonSchema: schema,
    validate: undefined,
    "~standard": {
      version: 1,
      vendor: "toolkernel",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: show, output: show },
    },
  } as AiSdkKernelSchema; // The fields beside are the AI SDK's own form, for versions that know no other.
}

/** Version 5 hands over the output, version 6 an object that holds it beside the call. */
function toModelOutput(given: unknown): AiSdkKernelOutput {
  const isWrapped = isFields(given) && "output" in given && "toolCallId" in given;
  const output: unknown = isWrapped ? given.output : given;
  if (typeof output === "string") {
    return { type: "text", value: output };
  }
  if (isContent(output)) {
    return isWrapped ? output : inVersion5(output);
  }
  // A settled result is JSON; nothing at all is shown as null.
  return { type: "json", value: (output ?? null) as AiSdkJson };
}

type Content = Extract<AiSdkOutput, { readonly type: "content" }>;

function isContent(output: unknown): output is Content {
  return isFields(output) && output.type === "content" && Array.isArray(output.value);
}

/** Version 5 has one name for bytes of every kind, which version 7 no longer knows. */
function inVersion5(output: Content): Content {
  const value = objectsOf(output.value).map((part) => (part.type === "text" ? part : { ...part, type: "media" }));
  return { type: "content", value } as unknown as Content; // True of version 5, which alone is given it.
}
