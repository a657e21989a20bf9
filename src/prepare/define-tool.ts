import {
  findFault,
  mustBeBoolean,
  mustBeFunction,
  mustBeRecord,
  mustBeString,
  mustBeTimeout,
  type OptionCheck,
  oneOf,
  readGiven,
} from "../domain/check-options.ts";
import { KernelError } from "../domain/errors.ts";
import type { ArgumentsOf, InputSchema } from "../domain/schema.ts";
import { isStandardSchema } from "../domain/schema.ts";
import type { AnyTool, Tool, ToolDefinition } from "../domain/tool.ts";

const mustBeSchema: OptionCheck = (value) => (isStandardSchema(value) ? undefined : mustBeRecord(value));

const REQUIRED: Readonly<Record<string, OptionCheck>> = {
  name: (value) => (typeof value === "string" && value !== "" ? undefined : "must be a non-empty string"),
  description: mustBeString,
  inputSchema: mustBeSchema,
  execute: mustBeFunction,
};

const OPTIONAL: Readonly<Record<string, OptionCheck>> = {
  inputJsonSchema: mustBeRecord,
  risk: oneOf("readOnly", "idempotentWrite", "nonIdempotentWrite"),
  executionMode: oneOf("sequential", "parallel"),
  timeoutMs: mustBeTimeout,
  trackExactRepeats: mustBeBoolean,
  throwMeans: oneOf("uncertain", "failed"),
  prepareArguments: mustBeFunction,
  validate: mustBeFunction,
  conflictKey: mustBeFunction,
  recover: mustBeFunction,
  origin: oneOf("imported"),
  needsApproval: mustBeFunction,
  durable: mustBeRecord,
};

/**
 * Defines a tool; its name, argument and result types are kept. The schema is compiled when a session
 * registers the tool.
 * @throws KernelError `INVALID_OPTIONS` naming the option that is missing, unknown or of a wrong type.
 */
export function defineTool<const Name extends string, const Schema extends InputSchema, Result>(
  definition: ToolDefinition<Name, Schema, Result>,
): Tool<Name, ArgumentsOf<Schema>, Awaited<Result>> {
  return readGiven("tool", () => {
    checkTool(definition);
    for (const option of Object.keys(definition)) {
      const isKnown = Object.hasOwn(REQUIRED, option) || Object.hasOwn(OPTIONAL, option);
      if (!isKnown)
        complain(labelOf(definition), option.slice(0, 64), "is not an option of a tool; check its spelling");
    }
    // The definition is the tool: same fields, `execute` typed by what its promise or iterable gives.
    return Object.freeze({ ...definition }) as unknown as Tool<Name, ArgumentsOf<Schema>, Awaited<Result>>;
  });
}

/**
 * Checks that a value is a tool: fields of the right types, none missing. A tool may carry more than the
 * kernel knows.
 * @throws KernelError `INVALID_OPTIONS` naming tool and option.
 */
export function checkTool(value: unknown): asserts value is AnyTool {
  readGiven("tools", () => checkFields(value));
}

function checkFields(value: unknown): void {
  if (mustBeRecord(value) !== undefined)
    throw new KernelError("INVALID_OPTIONS", "A tool must be an object; make it with defineTool.", {
      subject: "tools",
    });
  const fields = value as Readonly<Record<string, unknown>>; // an object, as was just checked
  const label = labelOf(fields);
  for (const [option, check] of Object.entries(REQUIRED)) complain(label, option, findFault(fields[option], check));
  for (const [option, check] of Object.entries(OPTIONAL)) {
    if (fields[option] !== undefined) complain(label, option, findFault(fields[option], check));
  }
}

function labelOf({ name }: { readonly name?: unknown }): string {
  return typeof name === "string" ? `Tool ${JSON.stringify(name.slice(0, 128))}` : "A tool";
}

function complain(label: string, option: string, fault: string | undefined): void {
  if (fault === undefined) return;
  throw new KernelError("INVALID_OPTIONS", `${label}: ${option} ${fault}.`, { subject: option });
}
