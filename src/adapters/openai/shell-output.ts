import type { JsonValue } from "../../domain/json.ts";
import type { ToolResultMessage } from "../../domain/message.ts";
import { contentText } from "../wire/content-text.ts";
import { isFields } from "../wire/draft-call.ts";
import type { ShellOutput } from "./responses-shapes.ts";

/**
 * What a shell call gave back, one entry a command. A tool that returns `[{ stdout, stderr, outcome }]`,
 * which is OpenAI's own form, is passed on as it is; any other result is one command's output: what it
 * says on `stdout`, or on `stderr` with exit code 1 (or as a time-out) when it is an error.
 */
export function shellOutputs(result: ToolResultMessage): ShellOutput[] {
  const only = result.content.length === 1 ? result.content[0] : undefined;
  if (only?.type === "json" && Array.isArray(only.value) && only.value.length > 0) {
    const outputs = only.value.map(readOutput);
    if (outputs.every((output) => output !== undefined)) {
      return outputs;
    }
  }
  const text = contentText(result.content);
  if (!result.isError) {
    return [{ stdout: text, stderr: "", outcome: { type: "exit", exit_code: 0 } }];
  }
  const timedOut = result.failureCategory === "timeout";
  return [{ stdout: "", stderr: text, outcome: timedOut ? { type: "timeout" } : { type: "exit", exit_code: 1 } }];
}

function readOutput(value: JsonValue): ShellOutput | undefined {
  if (!isFields(value) || typeof value.stdout !== "string" || typeof value.stderr !== "string") {
    return undefined;
  }
  const outcome = readOutcome(value.outcome);
  return outcome && { stdout: value.stdout.toWellFormed(), stderr: value.stderr.toWellFormed(), outcome };
}

function readOutcome(outcome: unknown): ShellOutput["outcome"] | undefined {
  if (!isFields(outcome)) {
    return undefined;
  }
  if (outcome.type === "timeout") {
    return { type: "timeout" };
  }
  return outcome.type === "exit" && typeof outcome.exit_code === "number"
    ? { type: "exit", exit_code: outcome.exit_code }
    : undefined;
}
