import type { JsonObject, JsonValue } from "../domain/json.ts";

/** A fault of a schema: its place and what is wrong there. */
export interface FoundSchemaFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Finds the place in a schema that a compile error of ajv is about. Some errors name it, some name
 * only the keyword, the reference or the pattern, which are then looked for; whatever else there is
 * counts as a fault of the whole schema.
 */
export function findSchemaFault(schema: JsonObject, error: unknown): FoundSchemaFault {
  const text = error instanceof Error ? error.message : "the schema could not be compiled";
  const place = / at (?:path )?"#([^"]*)"/.exec(text);
  if (place !== null) return { path: decodePath(place[1] ?? ""), message: text.replace(place[0], "") };
  const suspect = suspectOf(error, text);
  for (const { node, path } of subschemas(schema)) {
    const keyword = suspect?.(node);
    if (keyword !== undefined) return { path: [...path, ...keyword], message: text };
  }
  return { path: [], message: text };
}

type Suspect = (node: JsonObject) => readonly string[] | undefined;

function suspectOf(error: unknown, text: string): Suspect | undefined {
  const unknownKeyword = /unknown keyword: "(.*)"/s.exec(text)?.[1];
  if (unknownKeyword !== undefined)
    return (node) => (Object.hasOwn(node, unknownKeyword) ? [unknownKeyword] : undefined);
  const missingRef: unknown =
    typeof error === "object" && error !== null && "missingRef" in error ? error.missingRef : undefined;
  if (missingRef !== undefined) return (node) => missingReference(node, String(missingRef));
  return text.includes("regular expression") ? badPattern : undefined;
}

/** ajv reports the reference resolved against the base; the schema holds it as written. */
function missingReference(node: JsonObject, missingRef: string): readonly string[] | undefined {
  const keyword = ["$ref", "$dynamicRef"].find((name) => typeof node[name] === "string");
  const written = keyword === undefined ? undefined : node[keyword];
  if (keyword === undefined || typeof written !== "string") return undefined;
  return missingRef.endsWith(written.replace(/^#?\/?/, "")) ? [keyword] : undefined;
}

function badPattern(node: JsonObject): readonly string[] | undefined {
  if (typeof node.pattern === "string" && !isPattern(node.pattern)) return ["pattern"];
  const bad = Object.keys(asObject(node.patternProperties)).find((pattern) => !isPattern(pattern));
  return bad === undefined ? undefined : ["patternProperties", bad];
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

const SCHEMA_MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

interface Subschema {
  readonly node: JsonObject;
  readonly path: readonly (string | number)[];
}

/** Every subschema, the outer before the inner; only where a keyword holds schemas, so that a property may have any name. */
function* subschemas(node: JsonValue, path: readonly (string | number)[] = []): Generator<Subschema> {
  if (typeof node !== "object" || node === null) return;
  if (isArray(node)) {
    for (const [index, item] of node.entries()) yield* subschemas(item, [...path, index]);
    return;
  }
  yield { node, path };
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "enum" || keyword === "const" || keyword === "default" || keyword === "examples") continue;
    if (SCHEMA_MAPS.includes(keyword)) {
      for (const [name, item] of Object.entries(asObject(value))) yield* subschemas(item, [...path, keyword, name]);
    } else yield* subschemas(value, [...path, keyword]);
  }
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !isArray(value) ? value : {};
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function decodePath(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => {
      try {
        return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
      } catch {
        return segment;
      }
    });
}
