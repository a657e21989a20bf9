import { checkGiven, mustBeRecord, readGiven } from "../../domain/check-options.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Tool, ToolContext, ToolPolicy } from "../../domain/tool.ts";
import { askIfNeeded, askOf } from "../import/approval.ts";
import { assertPolicies, policyOf, refusedTool } from "../import/tool-policies.ts";
import { isFields } from "../wire/draft-call.ts";
import { importAiSdkSchema } from "./schema.ts";
import { showOutput } from "./tool-output.ts";

/** A tool set of the AI SDK, of any version from 5 on: tools by name. */
export type AiSdkToolSet = Readonly<Record<string, object | undefined>>;

/** What a tool of an AI SDK tool set takes. */
export type AiSdkInput<ForeignTool> = [ExecuteInput<ForeignTool>] extends [never]
  ? JsonObject
  : ExecuteInput<ForeignTool>;

type ExecuteInput<ForeignTool> = ForeignTool extends {
  readonly execute: (input: infer Input, ...rest: never[]) => unknown;
}
  ? Input
  : never;

/** What a host adds to the tools of a tool set, by name. */
export type AiSdkPolicies<Tools extends AiSdkToolSet> = {
  readonly [Name in keyof Tools]?: ToolPolicy<AiSdkInput<Tools[Name]>> | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

const IMPORTER = "fromAiSdkTools";

/**
 * Turns a tool set of the AI SDK into tools of the kernel, in the set's order.
 *
 * - **Risk**: the AI SDK does not say what a tool does to the world, so each is a non-idempotent write
 *   without a key, thus a barrier (EPOCH-7), until its policy says otherwise.
 * - **Schema**: Zod, another Standard Schema, `jsonSchema()` or `zodSchema()`; it validates once, before
 *   dispatch, and what it gives is what `execute` gets.
 * - **execute** gets `toolCallId`, `abortSignal` and the run's `host` as `context` (before version 7
 *   `experimental_context`); `messages` is empty. Values it yields are progress; the last is the result.
 * - **Result**: the value, or what `toModelOutput` makes of it for the model; then the value is `details`.
 * - **Approval**: `needsApproval` asks (APP-1). A function that answers by a promise always asks.
 * - Tools that the provider runs are left out: there is nothing to run here.
 *
 * @throws KernelError `INVALID_OPTIONS` for a tool without `execute` that the provider does not run, and
 *   for a policy of an unknown tool or with an unknown field; `INVALID_TOOL_SCHEMA` for a schema that
 *   gives no JSON Schema
 */
export function fromAiSdkTools<Tools extends AiSdkToolSet>(toolSet: Tools, policies?: AiSdkPolicies<Tools>): Tool[] {
  checkGiven(toolSet, "toolSet", mustBeRecord);
  return readGiven("toolSet", () => {
    const own = Object.entries(toolSet).flatMap(([name, tool]) => {
      return isFields(tool) && !isRunByProvider(tool) ? [{ name, tool }] : [];
    });
    const given = policies ?? {};
    assertPolicies(
      IMPORTER,
      given,
      own.map(({ name }) => name),
    );
    // Each policy's functions take what its own tool takes, which is what the session hands them.
    return own.map(({ name, tool }) => importTool(name, tool, policyOf(given as Record<string, ToolPolicy>, name)));
  });
}

function importTool(name: string, tool: Fields, policy: ToolPolicy): Tool {
  const { execute } = tool;
  if (typeof execute !== "function") {
    throw refusedTool(IMPORTER, name, "it has no execute. Give it one, or take it out and run it yourself");
  }
  return {
    ...policy,
    name,
    description: describe(name, tool),
    ...importAiSdkSchema(name, tool.inputSchema),
    origin: "imported",
    ...approvalOf(name, tool),
    execute: (args, context) => {
      const returned: unknown = execute.call(tool, args, optionsOf(context));
      const finish = (output: unknown) => showOutput(tool, { toolCallId: context.callId, input: args, output });
      return isAsyncIterable(returned) ? follow(returned, finish) : Promise.resolve(returned).then(finish);
    },
  };
}

/** A provider-defined tool without `execute` runs at the provider, unless it says that it does not. */
function isRunByProvider(tool: Fields): boolean {
  const isProviderDefined = tool.type === "provider" || tool.type === "provider-defined";
  return isProviderDefined && tool.isProviderExecuted !== false && typeof tool.execute !== "function";
}

function describe(name: string, tool: Fields): string {
  if (typeof tool.description !== "function") {
    return typeof tool.description === "string" ? tool.description : "";
  }
  throw refusedTool(IMPORTER, name, "its description is a function of a context. Give it a string");
}

function approvalOf(name: string, tool: Fields): Pick<Tool, "needsApproval"> {
  const { needsApproval } = tool;
  if (needsApproval === undefined || needsApproval === false) {
    return {};
  }
  const ask = askOf("ai-sdk", name);
  if (typeof needsApproval !== "function") {
    return { needsApproval: () => ask };
  }
  return {
    needsApproval: (args, { host }) => {
      const options = { toolCallId: "", messages: [], context: host, experimental_context: host };
      return askIfNeeded(needsApproval.call(tool, args, options), ask);
    },
  };
}

function optionsOf({ callId, signal, host }: ToolContext): object {
  return { toolCallId: callId, messages: [], abortSignal: signal, context: host, experimental_context: host };
}

/** The AI SDK's result is the last value yielded, whatever the generator returns. */
async function* follow(
  values: AsyncIterable<unknown>,
  finish: (output: unknown) => Promise<unknown>,
): AsyncGenerator<unknown, unknown> {
  let last: unknown;
  for await (const value of values) {
    last = value;
    yield value;
  }
  return finish(last);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
