import { ToolError } from "toolkernel";
import { checkGiven, mustBeList, readGiven } from "../../domain/check-options.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Tool, ToolContext, ToolPolicy } from "../../domain/tool.ts";
import { importSchema, withoutTransform } from "../import/foreign-schema.ts";
import { assertPolicies, policyOf, refusedTool } from "../import/tool-policies.ts";
import { isFields } from "../wire/draft-call.ts";
import { readToolOutput } from "./tool-output.ts";

/** A tool of LangChain, of any version that has `invoke`: `tool(...)`, a class of its own, a runnable made a tool. */
export interface LangChainToolLike {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema?: unknown;
  readonly returnDirect?: boolean | undefined;
}

/** What a host adds to imported tools, by tool name. */
export type LangChainPolicies = Readonly<Record<string, ToolPolicy | undefined>>;

type Invoke = (call: object, config: object) => unknown;

const IMPORTER = "fromLangChainTools";

/**
 * Turns tools of LangChain into tools of the kernel, in the order given.
 *
 * - **Risk**: LangChain does not say what a tool does to the world, so each is a non-idempotent write
 *   without a key, thus a barrier (EPOCH-7), until its policy says otherwise.
 * - **Schema**: Zod or another Standard Schema, or JSON Schema. What it refuses is refused before
 *   dispatch. Defaults and transforms happen once, when LangChain parses the input for the tool itself;
 *   policies see the input as the model gave it.
 * - **invoke** gets the call, `signal`, and the run's `host` as `context`.
 * - **Result**: the tool message's content, an error if its status says so, its artifact as `details`.
 *   A tool with `returnDirect` ends the loop (`terminate`).
 * - **Cancellation**: LangChain stops waiting for a tool as soon as the signal fires, and does not say
 *   whether the tool has stopped. A read is over then; a write counts as alive for its grace, and its
 *   outcome as unknown (CAN-2).
 *
 * @throws KernelError `INVALID_OPTIONS` for something without `name` or `invoke`, and for a policy of an
 *   unknown tool or with an unknown field; `INVALID_TOOL_SCHEMA` for a schema that gives no JSON Schema
 */
export function fromLangChainTools(tools: readonly LangChainToolLike[], policies: LangChainPolicies = {}): Tool[] {
  checkGiven(tools, "tools", mustBeList);
  return readGiven("tools", () => {
    assertPolicies(
      IMPORTER,
      policies,
      Array.from(tools, (tool) => tool.name),
    );
    return tools.map((tool) => importTool(tool, policyOf(policies, tool.name)));
  });
}

function importTool(tool: LangChainToolLike, policy: ToolPolicy): Tool {
  const { name } = tool;
  const invoke = invokeOf(tool);
  if (invoke === undefined) {
    const problem = "it has no invoke, so it runs elsewhere. Leave it out, or give a tool that runs here";
    throw refusedTool(IMPORTER, String(name), problem);
  }
  const schema = tool.schema === undefined ? { inputSchema: { type: "object" } } : importSchema(name, tool.schema);
  return {
    ...policy,
    name,
    description: tool.description ?? "",
    ...withoutTransform(schema, name),
    origin: "imported",
    execute: (args, context) => run({ name, invoke, args, context, isRead: policy.risk === "readOnly" }, tool),
  };
}

/** The tool's own `invoke`, called on the tool. */
function invokeOf(tool: LangChainToolLike): Invoke | undefined {
  if (!("invoke" in tool) || typeof tool.invoke !== "function") {
    return undefined;
  }
  const { invoke } = tool;
  return (call, config) => invoke.call(tool, call, config);
}

interface Run {
  readonly name: string;
  readonly invoke: Invoke;
  readonly args: JsonObject;
  readonly context: ToolContext;
  readonly isRead: boolean;
}

async function run({ name, invoke, args, context, isRead }: Run, tool: LangChainToolLike): Promise<unknown> {
  const call = { type: "tool_call", id: context.callId, name, args };
  let output: unknown;
  try {
    output = await invoke(call, { signal: context.signal, context: context.host });
  } catch (error) {
    if (isUnparsed(error)) {
      throw new ToolError(error.message, { failureCategory: "invalidArguments", cause: error });
    }
    if (context.signal.aborted && !isRead && !isFailureOfToolItself(error)) {
      // See *Cancellation* above: to return now would free the keys under a writer that may be alive.
      return new Promise<never>(() => undefined);
    }
    throw error;
  }
  return readToolOutput(output, tool.returnDirect === true);
}

/** LangChain parses the input before it runs the tool, so nothing has happened. */
function isUnparsed(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith("Received tool input did not match expected schema");
}

/** A declared failure is certain, whenever it comes. */
function isFailureOfToolItself(error: unknown): boolean {
  return isFields(error) && (error.name === "ToolError" || error.name === "OutcomeUnknownError");
}
