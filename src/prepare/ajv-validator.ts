import { Ajv, type AnySchemaObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { checkGiven, checkOptions, mustBeBoolean, mustBeRecord, oneOf, readGiven } from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { JsonSchemaCheck, JsonSchemaDialect, JsonSchemaValidator } from "../domain/schema.ts";
import { toSchemaFaults } from "./ajv-faults.ts";
import { findSchemaFault } from "./find-schema-fault.ts";
import { clipText, showPlace } from "./json-pointer.ts";
import { UNIQUE_ITEMS } from "./unique-items.ts";

/** Up to how many values arguments may hold for all their faults to be listed; larger ones get the first fault only. */
const MAX_DETAILED_VALUES = 2_000;

const COMPILE_CHECKS = { dialect: oneOf("draft-07", "2020-12"), strict: mustBeBoolean };

/**
 * The stock validator, by ajv (PREP-7, PREP-8). Coercion, defaults and removal are off: a value is
 * never changed. `format` is an annotation, as JSON Schema has it, and not checked; a tool's `validate`
 * is the place for that. Strict schemas pass ajv's strict mode; others may carry unknown keywords and
 * union types. `$schema` is ignored: the dialect is what the caller says. Schemas share nothing, so
 * equal `$id`s do not clash. Nothing is built before the first schema is compiled.
 *
 * `compile` throws `INVALID_TOOL_SCHEMA` naming the JSON pointer of the fault, `INVALID_OPTIONS` for what it
 * cannot read at all.
 */
export function ajvValidator(): JsonSchemaValidator {
  const metaValidators = new Map<JsonSchemaDialect, Ajv>();
  return {
    compile(schema, given) {
      checkGiven(schema, "schema", mustBeRecord);
      checkOptions(given, COMPILE_CHECKS, { path: "options", required: ["dialect", "strict"] });
      const { dialect, strict } = given;
      // JSON is what it is from here on, whatever it was.
      const own = readGiven("schema", () => JSON.parse(JSON.stringify(schema)) as JsonObject);
      const { $schema: _dialect, ...bare } = own;
      const meta = metaValidators.get(dialect) ?? createAjv(dialect, { ...FIXED, strict: false });
      metaValidators.set(dialect, meta);
      judgeSchema(meta, bare);
      const options: Options = { ...FIXED, ...(strict ? STRICT : TOLERANT), meta: false, validateSchema: false };
      return createCheck(bare, dialect, options);
    },
  };
}

/** The one that sessions use whose host brings none; shared, so that a tool is compiled once for all of them. */
export const stockValidator: JsonSchemaValidator = Object.freeze(ajvValidator());

/**
 * `ownProperties`: names such as `toString` are looked for in the value only, not in its prototype.
 */
const FIXED: Options = Object.freeze({
  logger: false,
  validateFormats: false,
  ownProperties: true,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
});

/** Strict but for `strictRequired`, which forbids the common "one of these two names" form. */
const STRICT: Options = Object.freeze({ strict: true, strictRequired: false });

const TOLERANT: Options = Object.freeze({
  strict: false,
  allowUnionTypes: true,
  code: {
    regExp: Object.assign((pattern: string, flags: string) => lenientPattern(pattern, flags), {
      code: "lenientPattern",
    }),
  },
});

/** Foreign patterns are often written without the `u` flag in mind, under which needless escapes are errors. */
function lenientPattern(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}

function createAjv(dialect: JsonSchemaDialect, options: Options): Ajv {
  const ajv = dialect === "draft-07" ? new Ajv(options) : new Ajv2020(options);
  // Draft-04's `id`: ajv refuses the keyword even where every unknown one is tolerated.
  if (options.strict === false) ajv.removeKeyword("id");
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword(UNIQUE_ITEMS);
  return ajv;
}

function judgeSchema(meta: Ajv, schema: JsonObject): void {
  if (meta.validateSchema(schema as AnySchemaObject) === true) return; // a JSON object is a schema object
  const [first] = toSchemaFaults(meta.errors ?? []);
  throw invalidSchema(first?.pointer.split("/").slice(1) ?? [], first?.message ?? "is not a valid schema");
}

function createCheck(schema: JsonObject, dialect: JsonSchemaDialect, options: Options): JsonSchemaCheck {
  const check = compileOnce(schema, dialect, options);
  let detailedCheck: ValidateFunction | undefined;
  return (value) => {
    if (check(value)) return [];
    if (countValues(value, MAX_DETAILED_VALUES) < 0) return toSchemaFaults(check.errors ?? []);
    detailedCheck ??= compileOnce(schema, dialect, { ...options, allErrors: true });
    detailedCheck(value);
    return toSchemaFaults(detailedCheck.errors ?? []);
  };
}

/** An instance of its own for each schema: nothing that one tool's schema names can reach another's. */
function compileOnce(schema: JsonObject, dialect: JsonSchemaDialect, options: Options): ValidateFunction {
  // An asynchronous check answers a promise, which would pass for "valid".
  if ("$async" in schema) throw invalidSchema(["$async"], "asynchronous schemas are not supported");
  try {
    return createAjv(dialect, options).compile(schema as AnySchemaObject); // a JSON object is a schema object
  } catch (error) {
    const found = findSchemaFault(schema, error);
    throw invalidSchema(found.path, found.message, error);
  }
}

function invalidSchema(path: readonly (string | number)[], message: string, cause?: unknown): KernelError {
  return new KernelError("INVALID_TOOL_SCHEMA", `${showPlace(path)}: ${clipText(message, 300)}`, { cause });
}

/** What is left of `budget` after all values of a JSON value were counted; negative when it did not last. */
function countValues(value: unknown, budget: number): number {
  let left = budget - 1;
  if (typeof value !== "object" || value === null) return left;
  for (const item of Object.values(value)) {
    if (left < 0) return left;
    left = countValues(item, left);
  }
  return left;
}
