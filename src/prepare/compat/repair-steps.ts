import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { parseArguments } from "../parse-arguments.ts";
import { fitsSchema } from "./fits-schema.ts";
import { isObject, typeOf } from "./json-types.ts";
import { forbidsKey, namesKey, needsKey, propertySchema, takesType } from "./read-schema.ts";
import type { Schema, SchemaReading } from "./schema-parts.ts";

/** A place of a draft: the value there and what the schema wants there. */
export interface RepairPlace {
  readonly reading: SchemaReading;
  readonly schema: Schema;
  readonly value: JsonValue;
  readonly isTop: boolean;
}

/** What a step makes of a place. `keys`: the repair was the removal of these keys, else it is of the value itself. */
export interface PlaceRepair {
  readonly value: JsonValue;
  readonly keys?: readonly string[];
}

/** One kind of repair, at one place; `undefined` leaves the place alone. Pure; never changes the value. */
export type RepairPlaceStep = (place: RepairPlace) => PlaceRepair | undefined;

/** The name of a compatibility step. */
export type CompatStepName =
  | "emptyArguments"
  | "dropNullOptionals"
  | "parseStringified"
  | "exactScalars"
  | "dropUnknownKeys"
  | "wrapSingle";

/** The steps by name, in order of evidence (api.md). Each acts only where the value is certain to be invalid. */
export const REPAIR_STEPS: Readonly<Record<CompatStepName, RepairPlaceStep>> = Object.freeze({
  emptyArguments,
  dropNullOptionals,
  parseStringified,
  exactScalars,
  dropUnknownKeys,
  wrapSingle,
});

/** Arguments that are null, or text that is blank or spells null, are no arguments. */
function emptyArguments({ value, isTop }: RepairPlace): PlaceRepair | undefined {
  const isEmpty = value === null || (typeof value === "string" && ["", "null"].includes(value.trim()));
  return isTop && isEmpty ? { value: {} } : undefined;
}

/** Null at a key that is declared, that nothing may require, and that takes no null. */
function dropNullOptionals({ reading, schema, value }: RepairPlace): PlaceRepair | undefined {
  if (!isObject(value)) return undefined;
  return withoutKeys(
    value,
    (key) =>
      value[key] === null &&
      namesKey(reading, schema, key) &&
      !needsKey(reading, schema, key) &&
      !takesType(reading, propertySchema(reading, schema, { object: value, key }), "null"),
  );
}

/**
 * Text that is exactly the array or object wanted, where text is not. Of the arguments as a whole it is
 * enough that they are an object: nothing else can have been meant, and inner places come next.
 */
function parseStringified({ reading, schema, value, isTop }: RepairPlace): PlaceRepair | undefined {
  if (typeof value !== "string" || takesType(reading, schema, "string")) return undefined;
  if (!/^\s*[[{]/.test(value)) return undefined;
  const parsed = parseArguments(value);
  if (!parsed.ok) return undefined;
  const isWanted = isTop ? isObject(parsed.draft) : fitsSchema(reading, schema, parsed.draft);
  return isWanted ? { value: parsed.draft } : undefined;
}

/** Text that spells a number or boolean exactly as JSON writes it, where text is not taken. */
function exactScalars({ reading, schema, value }: RepairPlace): PlaceRepair | undefined {
  if (typeof value !== "string" || takesType(reading, schema, "string")) return undefined;
  const scalar = readScalar(value);
  return scalar !== undefined && fitsSchema(reading, schema, scalar) ? { value: scalar } : undefined;
}

function readScalar(text: string): JsonValue | undefined {
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return String(number) === text && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

/** Keys that a closed object schema does not name. */
function dropUnknownKeys({ reading, schema, value }: RepairPlace): PlaceRepair | undefined {
  if (!isObject(value)) return undefined;
  return withoutKeys(
    value,
    (key) => forbidsKey(reading, schema, { object: value, key }) && !namesKey(reading, schema, key),
  );
}

/** One value where a list of such values is wanted; not null, nor text that is empty or looks like JSON. */
function wrapSingle({ reading, schema, value }: RepairPlace): PlaceRepair | undefined {
  const type = typeOf(value);
  if (type === "array" || type === "null") return undefined;
  if (typeof value === "string" && /^\s*(?:[[{]|$)/.test(value)) return undefined;
  if (takesType(reading, schema, type) || !takesType(reading, schema, "array")) return undefined;
  return fitsSchema(reading, schema, [value]) ? { value: [value] } : undefined;
}

function withoutKeys(value: JsonObject, isDropped: (key: string) => boolean): PlaceRepair | undefined {
  const dropped = new Set(Object.keys(value).filter(isDropped));
  if (dropped.size === 0) return undefined;
  const kept = Object.entries(value).filter(([key]) => !dropped.has(key));
  return { value: Object.fromEntries(kept), keys: [...dropped] };
}
