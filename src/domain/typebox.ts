/**
 * The type of a TypeBox schema's values, read off the schema's own type. Structural: TypeBox is named
 * nowhere, so that the kernel's types need no dependency. What is not read here is `unknown`.
 */

interface Kind<Name extends string> {
  readonly "~kind": Name;
}

/** A schema made by TypeBox 1, of any kind. */
export type TypeBoxSchema = Kind<string>;

/** The type of its values; TypeBox's own `Static` for the kinds that have a JSON value. */
export type TypeBoxStatic<Schema> =
  Schema extends Kind<"String" | "TemplateLiteral">
    ? string
    : Schema extends Kind<"Number" | "Integer">
      ? number
      : Schema extends Kind<"Boolean">
        ? boolean
        : Schema extends Kind<"Null">
          ? null
          : Schema extends Kind<"Literal"> & { readonly const: infer Value }
            ? Value
            : Schema extends Kind<"Enum"> & { readonly enum: readonly (infer Value)[] }
              ? Value
              : TypeBoxComposite<Schema>;

type TypeBoxComposite<Schema> = Schema extends Kind<"Object"> & { readonly properties: infer Properties }
  ? ObjectOf<Properties>
  : Schema extends Kind<"Array"> & { readonly items: infer Items }
    ? TypeBoxStatic<Items>[]
    : Schema extends Kind<"Tuple"> & { readonly items: infer Items extends readonly unknown[] }
      ? { -readonly [Place in keyof Items]: TypeBoxStatic<Items[Place]> }
      : Schema extends Kind<"Union"> & { readonly anyOf: infer Branches extends readonly unknown[] }
        ? TypeBoxStatic<Branches[number]>
        : Schema extends Kind<"Intersect"> & { readonly allOf: infer Parts extends readonly unknown[] }
          ? IntersectionOf<Parts>
          : Schema extends Kind<"Record"> & { readonly patternProperties: infer Patterns }
            ? Record<string, TypeBoxStatic<Patterns[keyof Patterns]>>
            : unknown;

interface Optional {
  readonly "~optional": true;
}

type OptionalKeys<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends Optional ? Key : never;
}[keyof Properties];

type ObjectOf<Properties> = Flat<
  { [Key in Exclude<keyof Properties, OptionalKeys<Properties>>]: TypeBoxStatic<Properties[Key]> } & {
    [Key in OptionalKeys<Properties>]?: TypeBoxStatic<Properties[Key]>;
  }
>;

type IntersectionOf<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? TypeBoxStatic<First> & IntersectionOf<Rest>
  : unknown;

type Flat<Shape> = { [Key in keyof Shape]: Shape[Key] };
