import { fileKey, type JsonObject, type JsonValue, type ToolPolicy } from "toolkernel";
import type { KeyDescription, PolicyDescription, ServerDescription } from "./conversation-file.ts";

/** The policies that a conversation file gives for one server; relative paths count from `workspace`. */
export function toolPolicies(server: ServerDescription, workspace: string): Record<string, ToolPolicy> {
  return Object.fromEntries(
    Object.entries(server.tools ?? {}).map(([name, description]) => [name, toolPolicy(description, workspace)]),
  );
}

function toolPolicy(description: PolicyDescription, workspace: string): ToolPolicy {
  const { conflictKey, ...fields } = description;
  if (conflictKey === undefined) {
    return fields;
  }
  // The cast restates the union: Array.isArray does not narrow a readonly array.
  const keys = (Array.isArray(conflictKey) ? conflictKey : [conflictKey]) as readonly KeyDescription[];
  return { ...fields, conflictKey: (args) => keys.flatMap((key) => keysOf(key, args, workspace)) };
}

/**
 * Throws where the argument is not there: the kernel then refuses the call, which is safer than a write
 * that runs without the key it was meant to have.
 */
function keysOf(key: KeyDescription, args: JsonObject, root: string): readonly string[] {
  if ("template" in key) {
    return [key.template.replace(/\{([^{}]+)\}/g, (_, name: string) => scalarArgument(args, name))];
  }
  const value = argument(args, key.file);
  const paths: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  return paths.map((path) => {
    if (typeof path !== "string") {
      throw new TypeError(`The argument ${key.file} is not a path or a list of paths.`);
    }
    return fileKey(path, { root });
  });
}

function scalarArgument(args: JsonObject, name: string): string {
  const value = argument(args, name);
  if (value === null || typeof value === "object") {
    throw new TypeError(`The argument ${name} is not a string, number or boolean.`);
  }
  return String(value);
}

function argument(args: JsonObject, name: string): JsonValue {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined) {
    throw new TypeError(`There is no argument ${name}.`);
  }
  return value;
}
