import { isPlainObject, type JsonValue, MAX_JSON_DEPTH } from "../domain/json.ts";

/** What a walk does with the containers it meets, and how strict it is about whole numbers. */
export interface JsonWalkMode {
  /** `fresh`: every container is copied, the value itself is only read. `same`: the value is kept. */
  readonly containers: "fresh" | "same";
  /** Whether the containers of the answer are frozen, deepest first. */
  readonly freeze: boolean;
  /**
   * `any`: every finite number passes. `safe`: whole numbers beyond 2^53-1 do not, since whoever made
   * them from text may have rounded them; from 1e21 on they are written with an exponent and pass.
   * `exact`: as `safe`, and without the exception.
   */
  readonly integers: "any" | "safe" | "exact";
}

/**
 * What a walk found. `keys` counts the object keys of the whole value, `hasZero` says whether a number in it is 0. `path` leads to the fault,
 * outermost first; `fault` is a noun phrase that holds nothing of the value.
 */
export type JsonWalk =
  | { readonly ok: true; readonly value: JsonValue; readonly keys: number; readonly hasZero: boolean }
  | { readonly ok: false; readonly fault: string; readonly path: readonly (string | number)[] };

/** Values a copy may hold: a graph whose parts are shared could otherwise unfold without end. */
const MAX_COPIED_VALUES = 2_000_000;

/** Answers of the kernel about text, used by both parsers so that they speak alike. */
export const JSON_FAULTS = Object.freeze({
  depth: `containers nested deeper than ${MAX_JSON_DEPTH}`,
  protoKey: "the forbidden key __proto__",
  prototypeKey: "the forbidden key prototype under constructor",
  inexactInteger: "a whole number too large to be held exactly (send it as a string)",
  overflow: "a number too large to be held (send it as a string)",
  underflow: "a number too small to be told from zero (send it as a string)",
});

/**
 * Walks a value once and says whether it is plain JSON: finite numbers, at most 64 containers deep (a
 * cycle is deeper), no key `__proto__`, no `prototype` under `constructor`, nothing that JSON cannot
 * hold. Only own enumerable data of plain objects and arrays counts; each property is read once. A
 * property that is `undefined` counts as absent in a `fresh` walk. Keys keep their order. Nothing that
 * a getter or proxy throws leaves this function (PREP-11).
 */
export function walkJson(value: unknown, mode: JsonWalkMode): JsonWalk {
  const walk: Walk = {
    mode,
    keys: 0,
    hasZero: false,
    remaining: mode.containers === "fresh" ? MAX_COPIED_VALUES : Infinity,
    fault: "",
    depth: 0,
    places: [],
  };
  try {
    const result = visit(walk, value);
    if (result !== FAULTY) return { ok: true, value: result, keys: walk.keys, hasZero: walk.hasZero };
  } catch {
    walk.fault = "a value that threw when it was read";
  }
  return { ok: false, fault: walk.fault, path: walk.places.slice(0, walk.depth) };
}

const FAULTY = Symbol("faulty");
type Visited = JsonValue | typeof FAULTY;

interface Walk {
  readonly mode: JsonWalkMode;
  keys: number;
  hasZero: boolean;
  remaining: number;
  fault: string;
  /** How many containers are around the walk. Left standing at the fault. */
  depth: number;
  /** Its place in each of them, outermost first; behind them stands what is left of earlier ones. */
  readonly places: (string | number)[];
}

function visit(walk: Walk, value: unknown): Visited {
  walk.remaining -= 1;
  if (walk.remaining < 0) return refuse(walk, "more values than can be copied");
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return visitNumber(walk, value);
  if (typeof value !== "object") return refuse(walk, value === undefined ? "undefined" : `a ${typeof value}`);
  if (walk.depth === MAX_JSON_DEPTH) return refuse(walk, JSON_FAULTS.depth);
  return Array.isArray(value) ? visitArray(walk, value) : visitObject(walk, value);
}

function visitNumber(walk: Walk, value: number): Visited {
  if (!Number.isFinite(value)) return refuse(walk, "a number that is not finite");
  if (value === 0) walk.hasZero = true;
  if (walk.mode.integers === "any" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  if (walk.mode.integers === "safe" && Math.abs(value) >= 1e21) return value;
  return refuse(walk, "a whole number beyond 2^53-1, which may have been rounded (send it as a string)");
}

function visitArray(walk: Walk, source: readonly unknown[]): Visited {
  const copy: JsonValue[] | undefined = walk.mode.containers === "fresh" ? [] : undefined;
  const depth = walk.depth++;
  for (let index = 0; index < source.length; index += 1) {
    walk.places[depth] = index;
    const item = visit(walk, source[index]);
    if (item === FAULTY) return FAULTY;
    copy?.push(item);
  }
  walk.depth = depth;
  return finish(walk, copy ?? (source as readonly JsonValue[])); // every item has just been seen to be JSON
}

function visitObject(walk: Walk, source: object): Visited {
  if (!isPlainObject(source)) return refuse(walk, "an object that is not plain JSON");
  const copy: Record<string, JsonValue> | undefined = walk.mode.containers === "fresh" ? {} : undefined;
  const depth = walk.depth++;
  const isConstructor = depth > 0 && walk.places[depth - 1] === "constructor";
  for (const key of Object.keys(source)) {
    walk.places[depth] = key;
    if (key === "__proto__") return refuse(walk, JSON_FAULTS.protoKey);
    if (key === "prototype" && isConstructor) return refuse(walk, JSON_FAULTS.prototypeKey);
    const property = (source as Readonly<Record<string, unknown>>)[key]; // an own key of the object
    if (property !== undefined || copy === undefined) {
      const item = visit(walk, property);
      if (item === FAULTY) return FAULTY;
      if (copy !== undefined) copy[key] = item;
      walk.keys += 1;
    }
  }
  walk.depth = depth;
  return finish(walk, copy ?? (source as Readonly<Record<string, JsonValue>>)); // every property has just been seen to be JSON
}

function finish(walk: Walk, container: JsonValue): JsonValue {
  return walk.mode.freeze ? Object.freeze(container) : container;
}

function refuse(walk: Walk, fault: string): typeof FAULTY {
  walk.fault = fault;
  return FAULTY;
}
