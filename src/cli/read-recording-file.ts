import { KernelError } from "toolkernel";
import { type Recording, readRecording } from "toolkernel/inspect";
import { readText } from "./read-text.ts";

/**
 * The recording in a file that a command was given.
 * @throws KernelError `INVALID_OPTIONS` naming the path, when it cannot be read, is empty or is not a recording
 */
export function readRecordingFile(path: string): Recording {
  const text = readText(path);
  if (text.trim() === "") throw noRecording(path, "it is empty");
  try {
    return readRecording(text);
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    // What follows says how the functions of the package are called.
    throw noRecording(path, error.message.replace(/; give .*$/s, ""), error);
  }
}

function noRecording(path: string, fault: string, cause?: unknown): KernelError {
  const message = `${path} is not a recording: ${fault}. Give what --record or recordRun wrote.`;
  return new KernelError("INVALID_OPTIONS", message, { subject: path, cause });
}
