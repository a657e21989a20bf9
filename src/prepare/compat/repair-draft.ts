import type { Repair } from "../../domain/call.ts";
import type { JsonValue } from "../../domain/json.ts";
import { showPointer } from "../json-pointer.ts";
import { fitsSchema } from "./fits-schema.ts";
import { isArray, isObject } from "./json-types.ts";
import { itemSchema, propertySchema } from "./read-schema.ts";
import { type CompatStepName, REPAIR_STEPS } from "./repair-steps.ts";
import { readSchema, type Schema, type SchemaDocument, type SchemaReading } from "./schema-parts.ts";

/** A draft after compatibility steps, and what they changed. */
export interface RepairedDraft {
  readonly draft: JsonValue;
  readonly repairs: readonly Repair[];
}

/** How many repairs of one draft are listed. */
const MAX_LISTED_REPAIRS = 1_000;

/**
 * Applies steps one after another to the whole draft, outside in. A draft that has the shape wanted is
 * left alone; what is not repaired stays the very same value; the draft itself is never changed. Every
 * repair is listed (at most 1,000), with a bounded pointer.
 */
export function repairDraft(
  names: readonly CompatStepName[],
  document: SchemaDocument,
  draft: JsonValue,
): RepairedDraft {
  // Arguments are an object whatever the schema says (PREP-11).
  const top: Schema = { allOf: [{ type: "object" }, document.root] };
  if (fitsSchema(readSchema(document), top, draft)) return { draft, repairs: [] };
  const repairs: Repair[] = [];
  const repaired = names.reduce(
    (value, step) => repairPlace({ step, reading: readSchema(document), repairs, path: [] }, top, value),
    draft,
  );
  return { draft: repaired, repairs };
}

interface RepairWalk {
  readonly step: CompatStepName;
  readonly reading: SchemaReading;
  readonly repairs: Repair[];
  /** Where the walk is. */
  readonly path: (string | number)[];
}

function repairPlace(walk: RepairWalk, schema: Schema, value: JsonValue): JsonValue {
  if (schema === true || walk.reading.remaining < 0) return value;
  const isTop = walk.path.length === 0;
  const found = REPAIR_STEPS[walk.step]({ reading: walk.reading, schema, value, isTop });
  // An answer reached after the steps ran out is a guess.
  if (found === undefined || walk.reading.remaining < 0) return repairInside(walk, schema, value);
  for (const path of found.keys?.map((key) => [...walk.path, key]) ?? [walk.path]) {
    if (walk.repairs.length < MAX_LISTED_REPAIRS) walk.repairs.push({ step: walk.step, pointer: showPointer(path) });
  }
  return repairInside(walk, schema, found.value);
}

function repairInside(walk: RepairWalk, schema: Schema, value: JsonValue): JsonValue {
  if (isArray(value)) {
    const items = value.map((item, index) => inside(walk, index, itemSchema(walk.reading, schema, index), item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [key, inside(walk, key, propertySchema(walk.reading, schema, value, key), item)] as const,
  );
  return entries.every(([key, item]) => item === value[key]) ? value : Object.fromEntries(entries);
}

function inside(walk: RepairWalk, segment: string | number, schema: Schema, value: JsonValue): JsonValue {
  walk.path.push(segment);
  const repaired = repairPlace(walk, schema, value);
  walk.path.pop();
  return repaired;
}
