import { checkGiven, mustBeList, readGiven } from "../../domain/check-options.ts";
import type { InputSchema } from "../../domain/schema.ts";
import type { Tool, ToolPolicy } from "../../domain/tool.ts";
import { askIfNeeded, askOf } from "../import/approval.ts";
import { assertPolicies, policyOf, refusedTool } from "../import/tool-policies.ts";
import { isFields } from "../wire/draft-call.ts";
import { readAgentsOutput } from "./agents-output.ts";

/** A tool of the OpenAI Agents SDK, of any version: what its `tool()` gives. */
export interface OpenAIAgentsToolLike {
  readonly type: string;
  readonly name: string;
}

/** What a host adds to imported tools, by tool name. */
export type OpenAIAgentsPolicies = Readonly<Record<string, ToolPolicy | undefined>>;

type Fields = Readonly<Record<string, unknown>>;

const IMPORTER = "fromOpenAIAgentsTools";

// The SDK's own words, from all versions so far: it says them in place of what the tool threw.
const SWALLOWED_ERROR = "An error occurred while running the tool.";

/**
 * Turns function tools of the OpenAI Agents SDK into tools of the kernel, in the order given.
 *
 * - **Risk**: the SDK does not say what a tool does to the world, so each is a non-idempotent write
 *   without a key, thus a barrier (EPOCH-7), until its policy says otherwise.
 * - **Schema**: the JSON Schema that the SDK made of the tool's parameters; the SDK parses the input with
 *   its own when the tool runs.
 * - **invoke** gets the input as text, the call's `signal`, and as run context the run's `host` if that
 *   is a `RunContext`, else an object whose `context` is the `host`.
 * - **Errors**: unless the tool says `errorFunction: null`, the SDK answers a throw with a text that asks
 *   to try again. That text of the SDK's own is taken for the throw that it is, so that a write's outcome
 *   is not lost (UNC-1); an `errorFunction` of the tool's own is the tool's answer.
 * - **Time-out**: the tool's own is the call's, and a policy can only shorten it. When the SDK gives up
 *   first, the call goes on until the kernel's time is over too, since the tool may be alive (CAN-3).
 * - **Approval**: `needsApproval` asks (APP-1). A function that answers by a promise always asks.
 * - Hosted tools run at the provider and are left out. `isEnabled` is not asked: give the tools that are.
 *
 * @throws KernelError `INVALID_OPTIONS` for a tool of another kind, for one with guardrails (which the
 *   SDK's own runner alone would keep), and for a policy of an unknown tool or with an unknown field
 */
export function fromOpenAIAgentsTools(
  tools: readonly OpenAIAgentsToolLike[],
  policies: OpenAIAgentsPolicies = {},
): Tool[] {
  checkGiven(tools, "tools", mustBeList);
  return readGiven("tools", () => {
    const own = Array.from(tools).filter((tool) => tool.type !== "hosted_tool");
    assertPolicies(
      IMPORTER,
      policies,
      own.map((tool) => tool.name),
    );
    // Objects of the SDK may be asked for any field; what comes back is checked.
    return own.map((tool) => importTool(tool.name, tool as unknown as Fields, policyOf(policies, tool.name)));
  });
}

function importTool(name: string, tool: Fields, policy: ToolPolicy): Tool {
  const { invoke } = tool;
  if (tool.type !== "function" || typeof invoke !== "function") {
    throw refusedTool(IMPORTER, name, "it is not a function tool");
  }
  if ([tool.inputGuardrails, tool.outputGuardrails].some((rails) => Array.isArray(rails) && rails.length > 0)) {
    throw refusedTool(IMPORTER, name, "its guardrails would not run here. Put them into authorizeToolCall");
  }
  const timeoutMs = shorter(policy.timeoutMs, tool.timeoutMs);
  return {
    ...policy,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    name,
    description: typeof tool.description === "string" ? tool.description : "",
    // Whatever it is, the session says what is wrong with it when the tool is registered.
    inputSchema: tool.parameters as InputSchema,
    origin: "imported",
    ...approvalOf(name, tool),
    execute: async (args, context) => {
      const input = JSON.stringify(args);
      const toolCall = { type: "function_call", callId: context.callId, name, arguments: input };
      const details = { toolCall, signal: context.signal };
      return settleInvocation(tool, () => invoke.call(tool, runContextOf(context.host), input, details));
    },
  };
}

function shorter(policy: number | undefined, own: unknown): number | undefined {
  // The SDK takes parts of a millisecond; whole ones are no less.
  const whole = typeof own === "number" ? Math.ceil(own) : undefined;
  return whole === undefined ? policy : Math.min(whole, policy ?? whole);
}

function approvalOf(name: string, tool: Fields): Pick<Tool, "needsApproval"> {
  const { needsApproval } = tool;
  if (needsApproval === undefined || needsApproval === false) {
    return {};
  }
  const ask = askOf("openai-agents", name);
  return {
    needsApproval: (args, { host }) => {
      return typeof needsApproval === "function"
        ? askIfNeeded(needsApproval.call(tool, runContextOf(host), args), ask)
        : ask;
    },
  };
}

/** What an invocation came to: its output, or a throw where the SDK gave a text in place of one. */
async function settleInvocation(tool: Fields, invoke: () => unknown): Promise<unknown> {
  let output: unknown;
  try {
    output = await invoke();
  } catch (error) {
    return isTimeout(tool, error instanceof Error ? error.message : undefined) ? stillAlive() : Promise.reject(error);
  }
  if (isTimeout(tool, output)) {
    return stillAlive();
  }
  if (typeof output === "string" && output.startsWith(SWALLOWED_ERROR)) {
    throw new Error("The tool failed with an error that is not known here.");
  }
  return readAgentsOutput(output);
}

/** The SDK tells its time-out by one text, as a result or as an error's message. */
function isTimeout(tool: Fields, text: unknown): boolean {
  return text === `Tool '${tool.name}' timed out after ${tool.timeoutMs}ms.`;
}

/** See *Time-out* above: never settles. */
function stillAlive(): Promise<never> {
  return new Promise(() => undefined);
}

/** A RunContext of the SDK holds the host's own context and counts usage. */
function runContextOf(host: unknown): unknown {
  const isRunContext = isFields(host) && "context" in host && "usage" in host;
  return isRunContext ? host : { context: host };
}
