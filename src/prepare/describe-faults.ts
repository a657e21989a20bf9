import type { SchemaFault } from "../domain/schema.ts";
import { clipText, showPointer } from "./json-pointer.ts";

/** How many faults one text names. */
const MAX_DESCRIBED_FAULTS = 8;
/** Longest message of one fault, in UTF-16 units. */
const MAX_MESSAGE_CHARACTERS = 600;

/**
 * The faults of a value as one text for the model: where and what the schema wanted there, at most 8
 * of them and then how many more. Holds key names, cut, and never a value.
 */
export function describeFaults(faults: readonly SchemaFault[]): string {
  const texts = faults.slice(0, MAX_DESCRIBED_FAULTS).map(describeFault);
  const left = faults.length - texts.length;
  return left > 0 ? `${texts.join("; ")}; and ${left} more` : texts.join("; ");
}

function describeFault({ pointer, message }: SchemaFault): string {
  const wanted = clipText(message, MAX_MESSAGE_CHARACTERS);
  if (pointer === "") return wanted;
  const path = pointer.split("/").slice(1).map(unescapeSegment);
  return `at ${showPointer(path)}: ${wanted}`;
}

function unescapeSegment(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
