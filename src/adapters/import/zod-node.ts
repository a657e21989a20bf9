import { isFields } from "../wire/draft-call.ts";

/** A node of a Zod schema, of version 3 or 4, as both write it down. */
export interface ZodNode {
  /** The kind, by Zod 4's word. */
  readonly kind: string;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly description: string | undefined;
  readonly bounds: ZodBounds;
}

/** What the checks of a string, number or array say in both versions. Lengths are `minimum` and `maximum` too. */
export interface ZodBounds {
  readonly isWhole?: true;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

type Fields = Readonly<Record<string, unknown>>;

const KIND_OF_VERSION_3: Readonly<Record<string, string>> = {
  ZodDiscriminatedUnion: "union",
  ZodNativeEnum: "enum",
  ZodEffects: "effects",
  ZodPipeline: "pipe",
  ZodUndefined: "undefined",
};

/** Reads a Zod schema; undefined for anything else. */
export function readZod(schema: unknown): ZodNode | undefined {
  if (typeof schema !== "object" || schema === null) {
    return undefined;
  }
  // An object may be asked for any property; what comes back is checked.
  const { _zod, _def, description } = schema as { _zod?: unknown; _def?: unknown; description?: unknown };
  const said = typeof description === "string" ? description : undefined;
  if (isObject(_zod) && isFields(_zod.def) && typeof _zod.def.type === "string") {
    return {
      kind: _zod.def.type,
      definition: _zod.def,
      description: said,
      bounds: boundsOf([_zod.def, ...checksOf(_zod.def)].map(readCheckOfVersion4)),
    };
  }
  if (isFields(_def) && typeof _def.typeName === "string") {
    const kind = KIND_OF_VERSION_3[_def.typeName] ?? _def.typeName.replace(/^Zod/, "").toLowerCase();
    return { kind, definition: _def, description: said, bounds: boundsOf(checksOf(_def).map(readCheckOfVersion3)) };
  }
  return undefined;
}

/** The fields of an object's shape; Zod 3 gives it by a function. */
export function shapeOf(node: ZodNode): Readonly<Record<string, unknown>> {
  const { shape } = node.definition;
  const given: unknown = typeof shape === "function" ? shape() : shape;
  return isFields(given) ? given : {};
}

/** The schema that a wrapper, such as an optional or a default, is put around. */
export function innerOf(node: ZodNode): unknown {
  const { innerType, schema, type } = node.definition;
  return innerType ?? schema ?? (typeof type === "object" ? type : undefined);
}

function checksOf(definition: Fields): readonly Fields[] {
  return Array.isArray(definition.checks) ? definition.checks.filter(isObject) : [];
}

/** Checks are instances of classes, whose fields are read like any other. */
function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function boundsOf(said: readonly ZodBounds[]): ZodBounds {
  return Object.assign({}, ...said);
}

function readCheckOfVersion3(check: Fields): ZodBounds {
  switch (check.kind) {
    case "int":
      return { isWhole: true };
    case "min":
      return atLeast(check.value, check.inclusive !== false);
    case "max":
      return atMost(check.value, check.inclusive !== false);
    default:
      return {};
  }
}

function readCheckOfVersion4(given: Fields): ZodBounds {
  const check = isObject(given._zod) && isFields(given._zod.def) ? given._zod.def : given;
  switch (check.check) {
    case "number_format":
      return typeof check.format === "string" && check.format.includes("int") ? { isWhole: true } : {};
    case "greater_than":
      return atLeast(check.value, check.inclusive === true);
    case "less_than":
      return atMost(check.value, check.inclusive === true);
    case "min_length":
      return atLeast(check.minimum, true);
    case "max_length":
      return atMost(check.maximum, true);
    case "length_equals":
      return { ...atLeast(check.length, true), ...atMost(check.length, true) };
    default:
      return {};
  }
}

function atLeast(value: unknown, inclusive: boolean): ZodBounds {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return {};
  }
  return inclusive ? { minimum: value } : { exclusiveMinimum: value };
}

function atMost(value: unknown, inclusive: boolean): ZodBounds {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return {};
  }
  return inclusive ? { maximum: value } : { exclusiveMaximum: value };
}
