import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isObject, listOf, objectOf } from "./json-types.ts";

/** A JSON Schema or subschema. */
export type Schema = JsonObject | boolean;

/**
 * One reading of one schema. What is read is generous: keywords that are not understood, and references
 * that lead nowhere, allow everything. So "this type is not taken here" is certain, "is taken" is not.
 */
export interface SchemaReading {
  readonly root: JsonObject;
  /** How many schemas were followed to get here, at this place of the value. */
  readonly hops: number;
  readonly progress: ReadingProgress;
}

/** What all parts of a reading share. */
interface ReadingProgress {
  /** Steps that may still be taken; a schema may unfold without end. */
  remaining: number;
  /** Inner `$id`s change what a local reference means; then none is followed. Looked for when needed. */
  hasBases: boolean | undefined;
}

/** Steps that one step may take on one draft. */
const MAX_STEPS = 200_000;
/** How many unions may stand inside one another at one place of the value. */
const MAX_HOPS = 8;

/** Starts reading a schema for one step on one draft. */
export function readSchema(root: JsonObject): SchemaReading {
  return { root, hops: 0, progress: { remaining: MAX_STEPS, hasBases: undefined } };
}

/** The reading one branch further, at the same place of the value. */
export function followBranch(reading: SchemaReading): SchemaReading {
  return { ...reading, hops: reading.hops + 1 };
}

/** The reading one container further inside the value. */
export function enterValue(reading: SchemaReading): SchemaReading {
  return reading.hops === 0 ? reading : { ...reading, hops: 0 };
}

/** Whether the steps ran out: what is answered from then on is a guess, and nothing may be repaired. */
export function isExhausted(reading: SchemaReading): boolean {
  return reading.progress.remaining < 0;
}

/** Takes a step; true when there is none left to take here. */
export function isSpent({ progress, hops }: SchemaReading): boolean {
  progress.remaining -= 1;
  return progress.remaining < 0 || hops > MAX_HOPS;
}

/** A schema and everything that must hold with it: what it refers to and its `allOf`, flattened. */
export function conjunctsOf(reading: SchemaReading, schema: JsonObject): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const waiting: Schema[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === false) return [{ enum: [] }];
    if (next === true || found.has(next)) continue;
    found.add(next);
    if (typeof next.$ref === "string") waiting.push(followReference(reading, next.$ref));
    waiting.push(...listOf(next.allOf).map(asSchema));
  }
  return [...found];
}

/** The unions of a schema: one branch of each must hold. */
export function unionsOf(part: JsonObject): readonly (readonly Schema[])[] {
  return [part.anyOf, part.oneOf].map((union) => listOf(union).map(asSchema)).filter((branches) => branches.length > 0);
}

/** Any JSON as a schema; anything else allows everything. */
export function asSchema(value: JsonValue | undefined): Schema {
  return typeof value === "boolean" || isObject(value) ? value : true;
}

/** Whether a part's own `properties` or `patternProperties` cover a key. */
export function hasProperty(part: JsonObject, key: string): boolean {
  return Object.hasOwn(objectOf(part.properties), key) || patternsFor(part, key).length > 0;
}

/** What a part's own keywords want at a key. */
export function ownPropertySchema(part: JsonObject, key: string): Schema {
  const properties = objectOf(part.properties);
  const named = Object.hasOwn(properties, key) ? [asSchema(properties[key])] : [];
  const covering = [...named, ...patternsFor(part, key)];
  return covering.length > 0 ? both(covering) : asSchema(part.additionalProperties);
}

/** What a part's own keywords want at an index, in the words of both dialects. */
export function ownItemSchema(part: JsonObject, index: number): Schema {
  const tuple = Array.isArray(part.items) ? listOf(part.items) : listOf(part.prefixItems);
  if (index < tuple.length) return asSchema(tuple[index]);
  return asSchema(Array.isArray(part.items) ? part.additionalItems : part.items);
}

/** The schema of "one of these"; branches that nothing fits fall out. */
export function either(branches: readonly Schema[]): Schema {
  const open = branches.filter((branch) => branch !== false);
  if (open.length === 0 || open.includes(true)) return open.length > 0 || branches.length === 0;
  const distinct = [...new Set(open)];
  return distinct.length === 1 && distinct[0] !== undefined ? distinct[0] : { anyOf: distinct };
}

/** The schema of "all of these". */
export function both(parts: readonly Schema[]): Schema {
  if (parts.includes(false)) return false;
  const distinct = [...new Set(parts)].filter((part) => part !== true);
  if (distinct.length === 0) return true;
  return distinct.length === 1 && distinct[0] !== undefined ? distinct[0] : { allOf: distinct };
}

function patternsFor(part: JsonObject, key: string): readonly Schema[] {
  return Object.entries(objectOf(part.patternProperties)).flatMap(([pattern, schema]) => {
    try {
      return new RegExp(pattern, "u").test(key) ? [asSchema(schema)] : [];
    } catch {
      return [true]; // a pattern that cannot be read may match
    }
  });
}

/** Follows a reference into the same document; any other, and one that leads nowhere, allows everything. */
function followReference({ root, progress }: SchemaReading, reference: string): Schema {
  progress.hasBases ??= Object.values(root).some(holdsBase);
  if (progress.hasBases) return true;
  if (reference !== "#" && !reference.startsWith("#/")) return true;
  let here: JsonValue | undefined = root;
  for (const segment of reference.split("/").slice(1)) {
    const key = decodeSegment(segment);
    if (key === undefined || typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return true;
    here = (here as Readonly<Record<string, JsonValue>>)[key]; // an own key of an object or array
  }
  return asSchema(here);
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

function holdsBase(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (isObject(value) && typeof value.$id === "string") || Object.values(value).some(holdsBase);
}
