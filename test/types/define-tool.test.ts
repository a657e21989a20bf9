import {
  type AnyTool,
  createToolSession,
  type DeclaredResult,
  defineTool,
  type InputSchema,
  type JsonObject,
  type JsonValue,
  jsonSchema,
  type StandardSchema,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolPolicy,
  toolResult,
} from "toolkernel";
import { type Static, Type } from "typebox";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

/** The result type that a tool's executor gives in the end. */
type ResultOf<T> = T extends Tool<string, never, infer Result> ? Result : never;

describe("defineTool", () => {
  it("keeps the name as a literal", () => {
    const edit = defineTool({ name: "edit", description: "", inputSchema: { type: "object" }, execute: () => 1 });
    expectTypeOf(edit.name).toEqualTypeOf<"edit">();
    expectTypeOf(edit).toEqualTypeOf<Tool<"edit", JsonObject, number>>();
  });

  it("gives a plain JSON Schema's tool JSON arguments", () => {
    const edit = defineTool({
      name: "edit",
      description: "",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      validate: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return undefined;
      },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return args.path;
      },
    });
    expectTypeOf<ToolArgs<typeof edit>>().toEqualTypeOf<JsonObject>();
    const schema: Record<string, unknown> = { type: "object" };
    const loose = defineTool({ name: "loose", description: "", inputSchema: schema, execute: (args) => args });
    expectTypeOf<ToolArgs<typeof loose>>().toEqualTypeOf<JsonObject>();
  });

  it("takes a JSON Schema whose author typed it as an interface", () => {
    interface AuthorsSchema {
      readonly type: "object";
      readonly properties?: Readonly<Record<string, object>>;
    }
    const inputSchema: AuthorsSchema = { type: "object" };
    const tool = defineTool({ name: "t", description: "", inputSchema, execute: () => 1 });
    expectTypeOf<ToolArgs<typeof tool>>().toEqualTypeOf<JsonObject>();
  });

  it("takes the arguments' type from jsonSchema<T>", () => {
    interface Edit {
      readonly path: string;
      readonly limit?: number;
    }
    const edit = defineTool({
      name: "edit",
      description: "",
      inputSchema: jsonSchema<Edit>({ type: "object" }),
      conflictKey: ({ path }) => `file:${path}`,
      validate: ({ limit }) => (limit === 0 ? "limit is 0" : undefined),
      execute: ({ path, limit }, context) => {
        expectTypeOf(path).toEqualTypeOf<string>();
        expectTypeOf(limit).toEqualTypeOf<number | undefined>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return { path };
      },
      recover: ({ path }) => toolResult({ value: path }),
    });
    expectTypeOf<ToolArgs<typeof edit>>().toEqualTypeOf<Edit>();
    expectTypeOf<ResultOf<typeof edit>>().toEqualTypeOf<{ path: string }>();
  });

  it("takes the arguments' type from TypeBox, as its own Static says", () => {
    const schema = Type.Object({
      path: Type.String(),
      mode: Type.Union([Type.Literal("fast"), Type.Literal("slow")]),
      limit: Type.Optional(Type.Integer()),
      edits: Type.Array(Type.Object({ line: Type.Number(), on: Type.Boolean() })),
      pair: Type.Tuple([Type.String(), Type.Null()]),
      level: Type.Enum(["low", "high"]),
      names: Type.Record(Type.String(), Type.Number()),
    });
    const edit = defineTool({ name: "edit", description: "", inputSchema: schema, execute: ({ path }) => path.length });
    expectTypeOf<ToolArgs<typeof edit>>().toEqualTypeOf<Static<typeof schema>>();
    expectTypeOf<ToolArgs<typeof edit>["mode"]>().toEqualTypeOf<"fast" | "slow">();
    expectTypeOf<ResultOf<typeof edit>>().toEqualTypeOf<number>();
    const both = Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]);
    const joined = defineTool({
      name: "joined",
      description: "",
      inputSchema: both,
      execute: ({ a, b }) => a.repeat(b),
    });
    expectTypeOf<ToolArgs<typeof joined>>().toExtend<Static<typeof both>>();
    expectTypeOf<Static<typeof both>>().toExtend<ToolArgs<typeof joined>>();
  });

  it("takes the arguments' type from a Standard Schema's output", () => {
    const schema = z.object({
      count: z.string().transform(Number),
      mode: z.enum(["fast", "slow"]).default("fast"),
      note: z.string().optional(),
    });
    const edit = defineTool({
      name: "edit",
      description: "",
      inputSchema: schema,
      execute: ({ count }) => count * 2,
    });
    expectTypeOf<ToolArgs<typeof edit>>().toEqualTypeOf<z.output<typeof schema>>();
    expectTypeOf<ToolArgs<typeof edit>["count"]>().toEqualTypeOf<number>();
    const own: StandardSchema<{ text: string }, { length: number }> = {
      "~standard": { version: 1, vendor: "own", validate: () => ({ value: { length: 1 } }) },
    };
    const measured = defineTool({ name: "m", description: "", inputSchema: own, execute: ({ length }) => length });
    expectTypeOf<ToolArgs<typeof measured>>().toEqualTypeOf<{ length: number }>();
  });

  it("takes a Standard Schema that is a function", () => {
    const callable = Object.assign((value: unknown) => value, {
      "~standard": { version: 1 as const, vendor: "own", validate: () => ({ value: { a: 1 } }) },
    });
    const tool = defineTool({ name: "t", description: "", inputSchema: callable, execute: ({ a }) => a });
    expectTypeOf<ToolArgs<typeof tool>>().toEqualTypeOf<{ a: number }>();
  });

  it("takes the result's type from a value, a promise or an async iterable", () => {
    const base = { description: "", inputSchema: jsonSchema<{ n: number }>({ type: "object" }) };
    const value = defineTool({ ...base, name: "value", execute: ({ n }) => n });
    const promise = defineTool({ ...base, name: "promise", execute: async ({ n }) => [n] });
    const declared = defineTool({ ...base, name: "declared", execute: () => toolResult({ value: 1 }) });
    const nothing = defineTool({ ...base, name: "nothing", execute: () => undefined });
    const streamed = defineTool({
      ...base,
      name: "streamed",
      execute: async function* ({ n }) {
        yield n;
        yield n + 1;
      },
    });
    expectTypeOf<ResultOf<typeof value>>().toEqualTypeOf<number>();
    expectTypeOf<ResultOf<typeof promise>>().toEqualTypeOf<number[]>();
    expectTypeOf<ResultOf<typeof declared>>().toEqualTypeOf<DeclaredResult>();
    expectTypeOf<ResultOf<typeof nothing>>().toEqualTypeOf<undefined>();
    expectTypeOf<ResultOf<typeof streamed>>().toEqualTypeOf<number>();
  });

  it("types drafts as JSON, and answers of prepareArguments too", () => {
    type Prepare = NonNullable<Tool["prepareArguments"]>;
    expectTypeOf<Prepare>().parameter(0).toEqualTypeOf<JsonValue>();
    expectTypeOf<Prepare>().returns.toEqualTypeOf<JsonValue | undefined>();
  });

  it("takes undefined for every option that may be left out", () => {
    const tool = defineTool({
      name: "t",
      description: "",
      inputSchema: { type: "object" },
      inputJsonSchema: undefined,
      risk: undefined,
      executionMode: undefined,
      timeoutMs: undefined,
      trackExactRepeats: undefined,
      throwMeans: undefined,
      prepareArguments: undefined,
      validate: undefined,
      conflictKey: undefined,
      recover: undefined,
      execute: () => 1,
    });
    expectTypeOf(tool).toExtend<AnyTool>();
  });

  it("refuses what no tool can be", () => {
    expectTypeOf<5>().not.toExtend<InputSchema>();
    expectTypeOf<"write">().not.toExtend<Tool["risk"]>();
    expectTypeOf<"safeParallel">().not.toExtend<Tool["executionMode"]>();
    expectTypeOf<(args: JsonObject) => boolean>().not.toExtend<NonNullable<Tool["validate"]>>();
    expectTypeOf<(args: JsonObject) => Promise<string>>().not.toExtend<NonNullable<Tool["conflictKey"]>>();
  });
});

describe("lists of tools", () => {
  const plain = defineTool({ name: "plain", description: "", inputSchema: { type: "object" }, execute: () => 1 });
  const typed = defineTool({
    name: "typed",
    description: "",
    inputSchema: jsonSchema<{ a: string }>({ type: "object" }),
    conflictKey: ({ a }) => a,
    execute: ({ a }) => a,
  });
  const boxed = defineTool({
    name: "boxed",
    description: "",
    inputSchema: Type.Object({ b: Type.Number() }),
    execute: ({ b }) => b,
  });
  const zodded = defineTool({
    name: "zodded",
    description: "",
    inputSchema: z.object({ c: z.boolean() }),
    execute: async ({ c }) => c,
  });

  it("mix tools of any arguments and results", () => {
    const tools: readonly AnyTool[] = [plain, typed, boxed, zodded];
    expectTypeOf(tools).toExtend<Parameters<typeof createToolSession>[0]["tools"]>();
    expectTypeOf(createToolSession).toBeCallableWith({ tools: [plain, typed, boxed, zodded] as const });
    expectTypeOf<[typeof plain, typeof typed, typeof boxed, typeof zodded]>().toExtend<readonly AnyTool[]>();
  });

  it("keep each tool's arguments apart", () => {
    expectTypeOf<ToolArgs<typeof typed>>().toEqualTypeOf<{ a: string }>();
    expectTypeOf<ToolArgs<typeof boxed>>().toEqualTypeOf<{ b: number }>();
    expectTypeOf<ToolArgs<typeof zodded>>().toEqualTypeOf<{ c: boolean }>();
    expectTypeOf<ToolArgs<number>>().toEqualTypeOf<never>();
  });

  it("are refined by policies of the same arguments", () => {
    expectTypeOf<ToolPolicy<{ a: string }>["conflictKey"]>().toEqualTypeOf<
      Tool<string, { a: string }>["conflictKey"]
    >();
    expectTypeOf<keyof ToolPolicy>().toEqualTypeOf<
      | "risk"
      | "executionMode"
      | "timeoutMs"
      | "trackExactRepeats"
      | "throwMeans"
      | "validate"
      | "conflictKey"
      | "prepareArguments"
    >();
  });
});
