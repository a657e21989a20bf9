import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isFields } from "../wire/draft-call.ts";
import { innerOf, readZod, shapeOf, type ZodNode } from "./zod-node.ts";

/** How many nodes of a schema are followed; what lies beyond takes any value. */
const MAX_NODES = 1_000;

/** Where a conversion stands. A node within itself is recursion, which ends it. */
interface Walk {
  readonly open: Set<unknown>;
  nodes: number;
}

/**
 * The JSON Schema of a Zod schema's input, for versions of Zod that give none themselves: 3, and 4
 * before 4.2. It tells the model the shape and takes every value that Zod takes: what JSON Schema
 * cannot say (refinements, transforms, dates) is left to Zod's own validation, which runs after it.
 * Undefined for anything but a Zod schema.
 */
export function zodJsonSchema(schema: unknown): JsonObject | undefined {
  return readZod(schema) && convert(schema, { open: new Set(), nodes: 0 });
}

function convert(schema: unknown, walk: Walk): JsonObject {
  const node = readZod(schema);
  walk.nodes += 1;
  if (node === undefined || walk.open.has(schema) || walk.nodes > MAX_NODES) {
    return {};
  }
  walk.open.add(schema);
  const converted = convertKind(node, (inner) => convert(inner, walk));
  walk.open.delete(schema);
  return node.description === undefined ? converted : { ...converted, description: node.description };
}

function convertKind(node: ZodNode, within: (schema: unknown) => JsonObject): JsonObject {
  const { definition } = node;
  switch (node.kind) {
    case "string":
      return { type: "string", ...lengths(node, "minLength", "maxLength") };
    case "number":
      return convertNumber(node);
    case "boolean":
    case "null":
      return { type: node.kind };
    case "literal":
      return literalOf(definition.values ?? [definition.value]);
    case "enum":
      return literalOf(enumValues(definition.entries ?? definition.values));
    case "object":
      return convertObject(node, within);
    case "array":
      return { type: "array", items: within(definition.element ?? innerOf(node)), ...arrayLengths(node) };
    case "tuple":
      return convertTuple(definition, within);
    case "record":
      return { type: "object", additionalProperties: within(definition.valueType) };
    case "union":
      return { anyOf: optionsOf(definition).map(within) };
    case "intersection":
      return { allOf: [within(definition.left), within(definition.right)] };
    case "nullable":
      return { anyOf: [within(innerOf(node)), { type: "null" }] };
    case "optional":
    case "nonoptional":
    case "default":
    case "prefault":
    case "readonly":
    case "branded":
      return within(innerOf(node));
    case "effects":
      return isPreprocessing(node) ? {} : within(innerOf(node));
    case "pipe":
      return within(definition.in);
    case "lazy":
      return typeof definition.getter === "function" ? within(definition.getter()) : {};
    default:
      return {};
  }
}

function convertNumber({ bounds: { isWhole, ...bounds } }: ZodNode): JsonObject {
  return { type: isWhole ? "integer" : "number", ...bounds };
}

function convertObject(node: ZodNode, within: (schema: unknown) => JsonObject): JsonObject {
  const { definition } = node;
  const shape = Object.entries(shapeOf(node));
  const required = shape.filter(([, schema]) => !takesNothing(schema)).map(([key]) => key);
  const isClosed = definition.unknownKeys === "strict" || readZod(definition.catchall)?.kind === "never";
  return {
    type: "object",
    properties: Object.fromEntries(shape.map(([key, schema]) => [key, within(schema)])),
    ...(required.length === 0 ? {} : { required }),
    // Zod 3 gives every object a catchall that takes nothing; only its `unknownKeys` counts.
    ...(isClosed && definition.unknownKeys !== "strip" && definition.unknownKeys !== "passthrough"
      ? { additionalProperties: false }
      : {}),
  };
}

function convertTuple(definition: ZodNode["definition"], within: (schema: unknown) => JsonObject): JsonObject {
  const items = Array.isArray(definition.items) ? definition.items : [];
  const rest = definition.rest;
  return { type: "array", prefixItems: items.map(within), items: readZod(rest) === undefined ? false : within(rest) };
}

/** Whether a key may be left out: its schema takes `undefined`. A lazy schema is not looked into. */
function takesNothing(schema: unknown): boolean {
  const node = readZod(schema);
  switch (node?.kind) {
    case undefined:
    case "optional":
    case "default":
    case "prefault":
    case "catch":
    case "any":
    case "unknown":
    case "undefined":
      return true;
    case "nullable":
    case "readonly":
    case "branded":
      return takesNothing(innerOf(node));
    case "effects":
      return isPreprocessing(node) || takesNothing(innerOf(node));
    case "pipe":
      return takesNothing(node.definition.in);
    case "transform":
      return true;
    case "union":
      return optionsOf(node.definition).some(takesNothing);
    default:
      return false;
  }
}

/** A preprocessing effect takes anything; a refinement or a transform takes what its schema takes. */
function isPreprocessing(node: ZodNode): boolean {
  return isFields(node.definition.effect) && node.definition.effect.type === "preprocess";
}

function optionsOf(definition: ZodNode["definition"]): readonly unknown[] {
  const { options } = definition;
  return options instanceof Map ? [...options.values()] : Array.isArray(options) ? options : [];
}

/** A TypeScript enum with numbers also maps them back to names, which are not values of it. */
function enumValues(entries: unknown): unknown {
  if (!isFields(entries)) {
    return entries;
  }
  return Object.values(entries).flatMap((value) => (typeof entries[String(value)] === "number" ? [] : [value]));
}

function literalOf(values: unknown): JsonObject {
  const listed = Array.isArray(values) ? values : values instanceof Set ? [...values] : [];
  return listed.length > 0 && listed.every(isJsonScalar) ? { enum: listed } : {};
}

/** Zod 3 keeps an array's lengths beside its checks. */
function arrayLengths(node: ZodNode): JsonObject {
  const { minLength, maxLength, exactLength } = node.definition;
  const exact = isFields(exactLength) ? exactLength.value : undefined;
  const minItems = exact ?? (isFields(minLength) ? minLength.value : undefined);
  const maxItems = exact ?? (isFields(maxLength) ? maxLength.value : undefined);
  return {
    ...lengths(node, "minItems", "maxItems"),
    ...(typeof minItems === "number" ? { minItems } : {}),
    ...(typeof maxItems === "number" ? { maxItems } : {}),
  };
}

function lengths({ bounds: { minimum, maximum } }: ZodNode, least: string, most: string): JsonObject {
  return {
    ...(minimum === undefined ? {} : { [least]: minimum }),
    ...(maximum === undefined ? {} : { [most]: maximum }),
  };
}

function isJsonScalar(value: unknown): value is JsonValue {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
