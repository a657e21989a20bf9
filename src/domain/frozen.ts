/**
 * Data that several hold and nobody may change.
 * What a host or a model hands over stays theirs: it is copied, and the copy is frozen.
 */
import { isPlainObject } from "./json.ts";

/**
 * A copy of plain data, frozen, all of it. Arrays and plain objects are copied, with what they share and cycles;
 * anything else, such as a date, stays what it is. Throws what reading the value throws, and a RangeError
 * for nesting without end.
 */
export function copyFrozen<Value>(value: Value): Value {
  return isContainer(value) ? (copyContainer(value, new Map()) as Value) : value; // of the same shape
}

/** As {@link copyFrozen}; what cannot be copied is returned as it is, and is refused by whoever reads it. */
export function copyFrozenIfReadable<Value>(value: Value): Value {
  if (!isContainer(value)) return value;
  try {
    return copyFrozen(value);
  } catch {
    return value;
  }
}

/** Whether nobody can change anything of a value any more; throws a RangeError for nesting without end. */
export function isFrozenDeep(value: unknown): boolean {
  return !isContainer(value) || (Object.isFrozen(value) && Object.values(value).every(isFrozenDeep));
}

/** Freezes data that belongs to nobody else, all of it. A part that is frozen already is taken to be so to its end. */
export function freezeDeep(value: unknown): void {
  if (!isContainer(value) || Object.isFrozen(value)) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const item of value) freezeDeep(item);
    return;
  }
  // It is JSON: every name that can be walked is a field of its own.
  for (const name in value) freezeDeep((value as Readonly<Record<string, unknown>>)[name]);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function copyContainer(source: object, copies: Map<object, object>): object {
  const known = copies.get(source);
  if (known !== undefined) return known;
  if (Array.isArray(source)) return copyList(source, copies);
  if (!isPlainObject(source)) return source;
  const copy: Record<string, unknown> = {};
  copies.set(source, copy);
  for (const name of Object.keys(source)) {
    const field = copyField((source as Readonly<Record<string, unknown>>)[name], copies); // an own name of the object
    // Assigned, it would become the copy's prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: field, enumerable: true });
    else copy[name] = field;
  }
  return Object.freeze(copy);
}

function copyList(source: readonly unknown[], copies: Map<object, object>): object {
  const copy: unknown[] = [];
  copies.set(source, copy);
  for (let index = 0; index < source.length; index += 1) copy.push(copyField(source[index], copies));
  return Object.freeze(copy);
}

function copyField(value: unknown, copies: Map<object, object>): unknown {
  return isContainer(value) ? copyContainer(value, copies) : value;
}
