import {
  ajvValidator,
  compat,
  createLanes,
  createToolSession,
  defineTool,
  fileKey,
  jsonSchema,
  KernelError,
  memoryJournal,
  memoryRunStore,
  OutcomeUnknownError,
  ToolError,
  toolJsonSchema,
  toolResult,
} from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { type PublicCall, publicCall } from "./public-call.ts";

const SCHEMA = { type: "object", properties: { item: { type: "string" } }, required: ["item"] } as const;

/** A tool with every option. */
export function wholeTool() {
  return {
    name: "take",
    description: "Takes.",
    inputSchema: jsonSchema<{ readonly item: string }>({ ...SCHEMA }),
    inputJsonSchema: { ...SCHEMA },
    risk: "idempotentWrite",
    executionMode: "parallel",
    timeoutMs: 1_000,
    trackExactRepeats: true,
    throwMeans: "failed",
    prepareArguments: (draft: unknown) => draft as never,
    validate: () => undefined,
    conflictKey: () => "shelf",
    execute: () => "done",
    recover: () => undefined,
    origin: "imported",
    needsApproval: () => undefined,
  } as const;
}

/** Runs one call of a tool. */
export async function runOnce(tool: unknown): Promise<unknown> {
  const session = createToolSession({ tools: [tool as never], clock: simulatedClock().clock });
  try {
    const name = (tool as { readonly name: string }).name;
    return await session.execute([{ id: "a", name, arguments: { item: "x" } }]).result;
  } finally {
    await session.close();
  }
}

/** What tools are made of. */
export const TOOL_CALLS: Readonly<Record<string, readonly PublicCall[]>> = {
  defineTool: [
    publicCall("defineTool", (): [ReturnType<typeof wholeTool>] => [wholeTool()], {
      of: (given) => defineTool(given as never),
      use: runOnce,
      closed: ["0"],
      shown: ["0.name"],
    }),
  ],
  toolResult: [
    publicCall(
      "toolResult",
      (): Parameters<typeof toolResult> => [
        {
          value: 1,
          content: [{ type: "text", text: "x" }],
          details: {},
          isError: false,
          failureCategory: "conflict",
          terminate: false,
          outcomeUncertain: false,
        },
      ],
      { of: toolResult, use: (declared) => runOnce({ ...wholeTool(), execute: () => declared }) },
    ),
  ],
  fileKey: [
    publicCall("fileKey", (): Parameters<typeof fileKey> => ["a/b", { root: "/r", caseInsensitive: true }], {
      of: fileKey,
      closed: ["1"],
    }),
  ],
  jsonSchema: [
    publicCall("jsonSchema", (): [object] => [{ ...SCHEMA }], {
      of: jsonSchema,
      use: (inputSchema) => runOnce(defineTool({ ...wholeTool(), inputSchema } as never)),
    }),
  ],
  toolJsonSchema: [
    publicCall(
      "toolJsonSchema",
      (): Parameters<typeof toolJsonSchema> => [
        { name: "take", inputSchema: { ...SCHEMA }, inputJsonSchema: { ...SCHEMA } },
      ],
      { of: toolJsonSchema, shown: ["0.name"] },
    ),
  ],
  compat: [
    publicCall("compat.all", (): [object] => [{ ...SCHEMA }], {
      of: compat.all,
      use: (prepare) => prepare({ item: 5 }),
    }),
    publicCall("compat.all()", (): [unknown] => [{ item: 5 }], { of: (draft) => compat.all(SCHEMA)(draft as never) }),
    publicCall("compat.all().applyTo", (): [unknown] => [{ item: 5 }], {
      of: (draft) => compat.all(SCHEMA).applyTo(draft as never),
    }),
    ...Object.entries(compat).map(([name, step]) =>
      publicCall(`compat.${name}`, (): [object] => [{ ...SCHEMA }], { of: step }),
    ),
  ],
  ajvValidator: [
    publicCall(
      "ajvValidator().compile",
      (): [object, object] => [{ ...SCHEMA }, { dialect: "2020-12", strict: true }],
      { of: (schema, options) => ajvValidator().compile(schema as never, options as never), use: (check) => check({}) },
    ),
  ],
  createLanes: [publicCall("createLanes", (): [] => [], { of: createLanes })],
  memoryJournal: [
    publicCall("memoryJournal", (): [object] => [{ clock: simulatedClock().clock }], {
      of: memoryJournal,
      closed: ["0"],
      use: (journal) => journal.close(),
    }),
    publicCall("journal.find", (): [string] => ["a"], { of: (id) => memoryJournal().find(id) }),
    publicCall("journal.listOpen", (): [object] => [{ limit: 5, after: "a" }], {
      of: (options) => memoryJournal().listOpen(options as never),
      closed: ["0"],
    }),
    publicCall("journal.prune", (): [object] => [{ finalBefore: 5 }], {
      of: (options) => memoryJournal().prune(options as never),
      closed: ["0"],
    }),
  ],
  memoryRunStore: [
    publicCall("memoryRunStore", (): [object] => [{ clock: simulatedClock().clock }], {
      of: memoryRunStore,
      closed: ["0"],
      use: (store) => store.close(),
    }),
    publicCall("runStore.listOpen", (): [object] => [{ limit: 5, after: "a" }], {
      of: (options) => memoryRunStore().listOpen(options as never),
      closed: ["0"],
    }),
    publicCall("runStore.prune", (): [object] => [{ endedBefore: 5 }], {
      of: (options) => memoryRunStore().prune(options as never),
      closed: ["0"],
    }),
  ],
  KernelError: [
    publicCall(
      "new KernelError",
      (): [string, string, object] => ["INVALID_OPTIONS", "x", { subject: "y", cause: 1 }],
      {
        of: (code, message, fields) => new KernelError(code as never, message, fields),
        shown: ["1", "2.subject"],
      },
    ),
  ],
  ToolError: [
    publicCall("new ToolError", (): [string, object] => ["x", { failureCategory: "transient", cause: 1 }], {
      of: (message, options) => new ToolError(message, options),
    }),
  ],
  OutcomeUnknownError: [
    publicCall("new OutcomeUnknownError", (): [string, object] => ["x", { cause: 1 }], {
      of: (message, options) => new OutcomeUnknownError(message, options),
    }),
  ],
};
