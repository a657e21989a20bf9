import type { Repair } from "../../domain/call.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { showPointer } from "../json-pointer.ts";
import { fitsSchema } from "./fits-schema.ts";
import { isArray, isObject } from "./json-types.ts";
import { itemSchema, propertySchema } from "./read-schema.ts";
import { type CompatStepName, REPAIR_STEPS } from "./repair-steps.ts";
import { isExhausted, readSchema, type Schema, type SchemaReading } from "./schema-parts.ts";

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
export function repairDraft(names: readonly CompatStepName[], schema: JsonObject, draft: JsonValue): RepairedDraft {
  if (names.length === 0) return { draft, repairs: [] };
  // Arguments are an object whatever the schema says (PREP-11).
  const top: Schema = { allOf: [{ type: "object" }, schema] };
  if (fitsSchema(readSchema(schema), top, draft)) return { draft, repairs: [] };
  const repairs: Repair[] = [];
  const repaired = names.reduce(
    (value, step) => repairPlace({ step, reading: readSchema(schema), repairs, path: [] }, top, value),
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
  if (schema === true || isExhausted(walk.reading)) return value;
  const isTop = walk.path.length === 0;
  const found = REPAIR_STEPS[walk.step]({ reading: walk.reading, schema, value, isTop });
  // An answer reached after the steps ran out is a guess.
  if (found === undefined || isExhausted(walk.reading)) return repairInside(walk, schema, value);
  for (const path of found.keys?.map((key) => [...walk.path, key]) ?? [walk.path]) {
    if (walk.repairs.length < MAX_LISTED_REPAIRS) walk.repairs.push({ step: walk.step, pointer: showPointer(path) });
  }
  return repairInside(walk, schema, found.value);
}

function repairInside(walk: RepairWalk, schema: Schema, value: JsonValue): JsonValue {
  const { reading } = walk;
  if (isArray(value)) {
    const items = value.map((item, index) => {
      return repairChild(walk, index, { schema: itemSchema(reading, schema, index), value: item });
    });
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    const wanted = propertySchema(reading, schema, { object: value, key });
    return [key, repairChild(walk, key, { schema: wanted, value: item })] as const;
  });
  return entries.every(([key, item]) => item === value[key]) ? value : Object.fromEntries(entries);
}

function repairChild(
  walk: RepairWalk,
  segment: string | number,
  child: { readonly schema: Schema; readonly value: JsonValue },
): JsonValue {
  walk.path.push(segment);
  const repaired = repairPlace(walk, child.schema, child.value);
  walk.path.pop();
  return repaired;
}
