import { toolResult } from "toolkernel";
import type { ContentPart, ToolResultFields } from "../../domain/content.ts";
import { bytesPart, jsonPart, urlPart } from "../import/foreign-content.ts";
import { isFields, objectsOf } from "../wire/draft-call.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What `toModelOutput` is told from version 6 on. */
interface Shown {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

const WITHHELD: ToolResultFields = {
  content: "The tool has completed, but its toModelOutput failed, so its result is withheld. Do not repeat the call.",
  isError: true,
  failureCategory: "internal",
};

/**
 * A tool's output as the kernel's result: the value itself, or what `toModelOutput` makes of it for the
 * model, with the value as `details`. Never rejects: the tool has run, so a `toModelOutput` that fails
 * withholds the result, not the fact (PREP-13).
 */
export async function showOutput(tool: Fields, shown: Shown): Promise<unknown> {
  const { toModelOutput } = tool;
  if (typeof toModelOutput !== "function") {
    return shown.output;
  }
  try {
    const fields = readOutput(await callModelOutput((argument) => toModelOutput.call(tool, argument), shown));
    const failed = isMcpError(shown.output) ? { isError: true } : {};
    return toolResult({ ...(fields ?? WITHHELD), ...failed, details: shown.output });
  } catch {
    return toolResult({ ...WITHHELD, details: shown.output });
  }
}

/**
 * Version 5 hands over the output, version 6 an object that holds it, and a tool does not say for which
 * it was written. Whoever reads `output` by its name was written for 6; the property is hidden from
 * loops, so that a function which serialises the whole is not taken for one that does.
 */
async function callModelOutput(call: (argument: unknown) => unknown, shown: Shown): Promise<unknown> {
  let wasRead = false;
  const options = Object.defineProperty({ toolCallId: shown.toolCallId, input: shown.input }, "output", {
    get: () => {
      wasRead = true;
      return shown.output;
    },
  });
  let first: unknown;
  try {
    first = await call(options);
  } catch (error) {
    if (wasRead) {
      throw error;
    }
  }
  return wasRead ? first : call(shown.output);
}

/** Tools of the AI SDK's MCP client say in their output that they failed, and show the model only its content. */
function isMcpError(output: unknown): boolean {
  return isFields(output) && Array.isArray(output.content) && output.isError === true;
}

function readOutput(output: unknown): ToolResultFields | undefined {
  if (!isFields(output)) {
    return undefined;
  }
  switch (output.type) {
    case "text":
    case "error-text":
      return typeof output.value === "string"
        ? { content: output.value, isError: output.type === "error-text" }
        : undefined;
    case "json":
    case "error-json":
      return { content: [jsonPart(output.value)], isError: output.type === "error-json" };
    case "content":
      return { content: objectsOf(output.value).map(readPart), isError: false };
    case "execution-denied":
      return {
        content: typeof output.reason === "string" ? output.reason : "The execution was denied.",
        isError: true,
        failureCategory: "authorization",
      };
    default:
      return undefined;
  }
}

function readPart(part: Fields): ContentPart {
  const mediaType = typeof part.mediaType === "string" ? part.mediaType : "application/octet-stream";
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? { type: "text", text: part.text } : jsonPart(part);
    case "media":
    case "image-data":
    case "file-data":
      return bytesPart(mediaType, part.data, part.filename);
    case "image-url":
    case "file-url":
      return typeof part.url === "string" ? urlPart(part.url, part.mediaType) : jsonPart(part);
    case "file":
      return readFile(part, mediaType);
    default:
      return jsonPart(part);
  }
}

/** Version 7's part, whose data says itself what it is. */
function readFile(part: Fields, mediaType: string): ContentPart {
  const data = isFields(part.data) ? part.data : {};
  if (data.type === "data") {
    return bytesPart(mediaType, data.data, part.filename);
  }
  if (data.type === "text" && typeof data.text === "string") {
    return { type: "text", text: data.text };
  }
  const url = data.url instanceof URL ? data.url.href : data.url;
  return data.type === "url" && typeof url === "string" ? urlPart(url, mediaType) : jsonPart(part);
}
