import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isKnownType, isObject, type JsonType, listOf, objectOf, typeOf } from "./json-types.ts";
import {
  asSchema,
  both,
  conjunctsOf,
  either,
  followBranch,
  hasProperty,
  isSpent,
  ownItemSchema,
  ownPropertySchema,
  type Schema,
  type SchemaReading,
  unionsOf,
} from "./schema-parts.ts";

/** Whether a schema may take values of a type; `false` is certain. */
export function takesType(reading: SchemaReading, schema: Schema, type: JsonType): boolean {
  if (typeof schema === "boolean") return schema;
  if (isSpent(reading)) return true;
  return conjunctsOf(reading, schema).every(
    (part) =>
      ownTypeTakes(part, type) &&
      unionsOf(part).every((branches) => branches.some((branch) => takesType(followBranch(reading), branch, type))),
  );
}

/** Whether a schema names a key, in any of its parts and branches; `false` is certain. */
export function namesKey(reading: SchemaReading, schema: Schema, key: string): boolean {
  if (typeof schema === "boolean") return false;
  if (isSpent(reading)) return true;
  return conjunctsOf(reading, schema).some(
    (part) =>
      hasProperty(part, key) || sideBranchesOf(part).some((branch) => namesKey(followBranch(reading), branch, key)),
  );
}

/** Whether an object may have to have a key; `false` is certain. */
export function needsKey(reading: SchemaReading, schema: Schema, key: string): boolean {
  if (typeof schema === "boolean") return false;
  if (isSpent(reading)) return true;
  return conjunctsOf(reading, schema).some(
    (part) =>
      listOf(part.required).includes(key) ||
      dependentNames(part).includes(key) ||
      sideBranchesOf(part).some((branch) => needsKey(followBranch(reading), branch, key)),
  );
}

/** A key of an object of the draft. */
export interface ObjectKey {
  readonly object: JsonObject;
  readonly key: string;
}

/** Whether `additionalProperties: false` forbids a key for certain, whichever branch applies. */
export function forbidsKey(reading: SchemaReading, schema: Schema, at: ObjectKey): boolean {
  if (typeof schema === "boolean" || isSpent(reading)) return false;
  const branched = followBranch(reading);
  return conjunctsOf(reading, schema).some(
    (part) =>
      (part.additionalProperties === false && !hasProperty(part, at.key)) ||
      unionsOf(part).some((branches) => {
        const applicable = applicableTo(branched, branches, at.object);
        return applicable.length > 0 && applicable.every((branch) => forbidsKey(branched, branch, at));
      }),
  );
}

/** What a schema wants at a key; unions that are still open become a union of what they want there. */
export function propertySchema(reading: SchemaReading, schema: Schema, at: ObjectKey): Schema {
  if (typeof schema === "boolean" || isSpent(reading)) return true;
  const branched = followBranch(reading);
  const parts = conjunctsOf(reading, schema).flatMap((part) => [
    ownPropertySchema(part, at.key),
    ...unionsOf(part).map((branches) =>
      either(applicableTo(branched, branches, at.object).map((branch) => propertySchema(branched, branch, at))),
    ),
  ]);
  return both(parts);
}

/** What a schema wants at an index of an array. */
export function itemSchema(reading: SchemaReading, schema: Schema, index: number): Schema {
  if (typeof schema === "boolean" || isSpent(reading)) return true;
  const branched = followBranch(reading);
  const parts = conjunctsOf(reading, schema).flatMap((part) => [
    ownItemSchema(part, index),
    ...unionsOf(part).map((branches) =>
      either(
        branches
          .filter((branch) => takesType(branched, branch, "array"))
          .map((branch) => itemSchema(branched, branch, index)),
      ),
    ),
  ]);
  return both(parts);
}

function ownTypeTakes(part: JsonObject, type: JsonType): boolean {
  if (part.type !== undefined) {
    const types = typeof part.type === "string" ? [part.type] : listOf(part.type);
    const wide: readonly JsonValue[] = type === "number" ? ["number", "integer"] : [type];
    const nullable = type === "null" && part.nullable === true;
    if (!nullable && !types.some((name) => wide.includes(name) || !isKnownType(name))) return false;
  }
  if (Array.isArray(part.enum) && !listOf(part.enum).some((value) => typeOf(value) === type)) return false;
  return part.const === undefined || typeOf(part.const) === type;
}

/** Branches that an object can still belong to: not those whose fixed values it contradicts. */
function applicableTo(reading: SchemaReading, branches: readonly Schema[], object: JsonObject): readonly Schema[] {
  return branches.filter(
    (branch) =>
      takesType(reading, branch, "object") &&
      (typeof branch === "boolean" || !conjunctsOf(reading, branch).some((part) => contradicts(part, object))),
  );
}

/** Whether a scalar of the object differs from every value of its type that a part lists for it. */
function contradicts(part: JsonObject, object: JsonObject): boolean {
  return Object.entries(objectOf(part.properties)).some(([key, schema]) => {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined || !isObject(schema)) return false;
    const listed = schema.const === undefined ? listOf(schema.enum) : [schema.const];
    const rivals = listed.filter((candidate) => typeof candidate === typeof value && typeof candidate !== "object");
    return rivals.length > 0 && !rivals.includes(value);
  });
}

/** Every schema that may or may not apply beside a part. */
function sideBranchesOf(part: JsonObject): readonly Schema[] {
  const conditional = [part.if, part.then, part.else].filter((branch) => branch !== undefined).map(asSchema);
  const dependent = [part.dependentSchemas, part.dependencies]
    .flatMap((map) => Object.values(objectOf(map)))
    .map(asSchema);
  return [...unionsOf(part).flat(), ...conditional, ...dependent];
}

function dependentNames(part: JsonObject): readonly JsonValue[] {
  return [part.dependentRequired, part.dependencies].flatMap((map) => Object.values(objectOf(map)).flatMap(listOf));
}
