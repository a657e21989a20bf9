import type { JsonObject } from "./json.ts";
import type { TypeBoxSchema, TypeBoxStatic } from "./typebox.ts";

/**
 * The part of the Standard Schema interface (standardschema.dev) that the kernel uses. Structural, so
 * that any version of Zod, Valibot, ArkType and others fits without a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema answers. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One complaint of a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

declare const TYPED: unique symbol;

/** A JSON Schema object that carries the type of its values; made by {@link jsonSchema}. */
export type TypedJsonSchema<Args> = Readonly<Record<string, unknown>> & { readonly [TYPED]?: Args };

/** Any JSON Schema object, however its author's types are written. */
export type JsonSchemaObject = object;

/** Everything `inputSchema` takes: JSON Schema, {@link jsonSchema}, TypeBox, or a Standard Schema (maybe a function). */
export type InputSchema = JsonSchemaObject | StandardSchema;

/** The type of the prepared arguments a schema stands for; a Standard Schema's output. */
export type ArgumentsOf<Schema> =
  Schema extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Schema extends TypeBoxSchema
      ? TypeBoxStatic<Schema>
      : Schema extends { readonly [TYPED]?: infer Args }
        ? unknown extends Args
          ? JsonObject
          : Exclude<Args, undefined>
        : JsonObject;

/** Gives a JSON Schema object the TypeScript type of its values. The object itself is unchanged. */
export function jsonSchema<Args>(schema: JsonSchemaObject): TypedJsonSchema<Args> {
  return schema as TypedJsonSchema<Args>;
}

/** Whether a schema is a Standard Schema (which may also be a function, as ArkType's are). */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return ((typeof schema === "object" && schema !== null) || typeof schema === "function") && "~standard" in schema;
}

/** Compiles a JSON Schema to a check; the place where a host may put an interpreting validator. */
export interface JsonSchemaValidator {
  /**
   * Compiles `schema`, whose dialect is `dialect`, once per tool.
   * @throws anything when the schema is not a valid schema; the message should name the JSON pointer.
   */
  compile(
    schema: JsonObject,
    options: { readonly dialect: JsonSchemaDialect; readonly strict: boolean },
  ): JsonSchemaCheck;
}

/** The two dialects that the kernel tells apart (PREP-8). */
export type JsonSchemaDialect = "draft-07" | "2020-12";

/** Answers the faults of a value, an empty list when it is valid. Pure: the value is never changed. */
export type JsonSchemaCheck = (value: unknown) => readonly SchemaFault[];

/** One fault of a value: where (JSON pointer, "" is the whole) and what the schema wanted there. */
export interface SchemaFault {
  readonly pointer: string;
  readonly message: string;
}
