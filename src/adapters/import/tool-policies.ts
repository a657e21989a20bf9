import { KernelError } from "toolkernel";
import { readGiven } from "../../domain/check-options.ts";
import type { ToolPolicy } from "../../domain/tool.ts";
import { isFields } from "../wire/draft-call.ts";

/** What a host adds to the tools it imports, by tool name. */
export type ToolPolicies = Readonly<Record<string, ToolPolicy | undefined>>;

const POLICY_FIELDS: readonly string[] = [
  "risk",
  "executionMode",
  "timeoutMs",
  "trackExactRepeats",
  "throwMeans",
  "validate",
  "conflictKey",
  "prepareArguments",
] satisfies (keyof ToolPolicy)[];

/**
 * Checks that policies name tools that are imported, and fields that a policy has. Values are checked
 * where every tool's are: when the tool is registered.
 * @throws KernelError `INVALID_OPTIONS`, naming the importer and the tool or field
 */
export function assertPolicies(importer: string, policies: unknown, names: readonly string[]): void {
  readGiven("policies", () => checkPolicies(importer, policies, names));
}

function checkPolicies(importer: string, policies: unknown, names: readonly string[]): void {
  if (!isFields(policies)) {
    throw invalid("policies", `The policies of ${importer} must be an object of policies by tool name.`);
  }
  for (const [name, policy] of Object.entries(policies)) {
    if (!names.includes(name)) {
      const known = names.length === 0 ? "it imports none" : `it imports ${names.join(", ")}`;
      throw invalid(name, `${importer} has a policy for ${JSON.stringify(name)}, but imports no such tool; ${known}.`);
    }
    if (policy !== undefined) {
      assertPolicy(name, policy);
    }
  }
}

/** The policy of a tool; a tool may be called "constructor", so inherited fields do not count. */
export function policyOf(policies: ToolPolicies, name: string): ToolPolicy {
  return (Object.hasOwn(policies, name) ? policies[name] : undefined) ?? {};
}

/** The error for a foreign tool that cannot be imported as it is. */
export function refusedTool(importer: string, name: string, problem: string): KernelError {
  return invalid(name, `${importer} cannot import the tool ${JSON.stringify(name)}: ${problem}.`);
}

function assertPolicy(name: string, policy: unknown): void {
  if (!isFields(policy)) {
    throw invalid(name, `The policy of the tool ${JSON.stringify(name)} must be an object.`);
  }
  const unknown = Object.keys(policy).find((field) => !POLICY_FIELDS.includes(field));
  if (unknown !== undefined) {
    throw invalid(
      `${name}.${unknown}`,
      `The policy of the tool ${JSON.stringify(name)} has no field ${JSON.stringify(unknown)}; there are ${POLICY_FIELDS.join(", ")}.`,
    );
  }
}

function invalid(subject: string, message: string): KernelError {
  return new KernelError("INVALID_OPTIONS", message, { subject });
}
