import { KernelError, type ToolPolicy } from "toolkernel";
import { isRecord } from "./is-record.ts";

/** Options of `fromMcp`. Tools are always named as the server names them, without the prefix. */
export interface FromMcpOptions {
  /** Put before every tool name, to keep servers with equal names apart. Default none. */
  readonly prefix?: string | undefined;
  /** Whether the server's hints may decide the risk. Default false: they are ignored. */
  readonly trusted?: boolean | undefined;
  /** What the host says of a tool; wins over the hints. */
  readonly tools?: Readonly<Record<string, ToolPolicy>> | undefined;
  /** Imports these tools alone. Default all. */
  readonly only?: readonly string[] | undefined;
}

const OPTION_NAMES: readonly string[] = ["prefix", "trusted", "tools", "only"] satisfies (keyof FromMcpOptions)[];

const POLICY_NAMES: readonly string[] = [
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
 * Checks the options before anything is asked of the server. Values inside a policy are checked where
 * every tool's are: when the tool is registered.
 * @throws KernelError `INVALID_OPTIONS`
 */
export function assertImportOptions(options: FromMcpOptions): void {
  if (!isRecord(options)) {
    throw invalid("options", "The options of fromMcp must be an object.");
  }
  assertNames(options, { allowed: OPTION_NAMES, complaint: "fromMcp has no option", path: "" });
  assertType(options.prefix, "string", "prefix");
  assertType(options.trusted, "boolean", "trusted");
  if (options.only !== undefined && !(Array.isArray(options.only) && options.only.every(isText))) {
    throw invalid("only", "The option only of fromMcp must be an array of tool names.");
  }
  if (options.tools !== undefined && !isRecord(options.tools)) {
    throw invalid("tools", "The option tools of fromMcp must be an object of policies by tool name.");
  }
  for (const [name, policy] of Object.entries(options.tools ?? {})) {
    if (!isRecord(policy)) {
      throw invalid(`tools.${name}`, `The policy of the tool ${JSON.stringify(name)} must be an object.`);
    }
    const complaint = `The policy of the tool ${JSON.stringify(name)} has no field`;
    assertNames(policy, { allowed: POLICY_NAMES, complaint, path: `tools.${name}.` });
  }
}

/**
 * Checks that every tool the options name is one of the server's.
 * @throws KernelError `INVALID_OPTIONS`
 */
export function assertKnownTools(options: FromMcpOptions, listed: ReadonlySet<string>): void {
  for (const [option, names] of [
    ["tools", Object.keys(options.tools ?? {})],
    ["only", options.only ?? []],
  ] as const) {
    const unknown = names.find((name) => !listed.has(name));
    if (unknown !== undefined) {
      throw invalid(
        `${option}.${unknown}`,
        `The MCP server has no tool named ${JSON.stringify(unknown)}, which the option ${option} names. Use the server's own names, without the prefix; it has: ${[...listed].join(", ")}.`,
      );
    }
  }
}

interface NameCheck {
  readonly allowed: readonly string[];
  /** The start of the message, up to the name. */
  readonly complaint: string;
  /** Where the object is, as a start of the error's subject. */
  readonly path: string;
}

function assertNames(object: object, { allowed, complaint, path }: NameCheck): void {
  const unknown = Object.keys(object).find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    throw invalid(`${path}${unknown}`, `${complaint} ${JSON.stringify(unknown)}; there are ${allowed.join(", ")}.`);
  }
}

function assertType(value: unknown, type: "string" | "boolean", option: string): void {
  if (value !== undefined && typeof value !== type) {
    throw invalid(option, `The option ${option} of fromMcp must be a ${type}.`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function invalid(subject: string, message: string): KernelError {
  return new KernelError("INVALID_OPTIONS", message, { subject });
}
