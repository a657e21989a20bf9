import type { JsonObject } from "../domain/json.ts";
import { showPlace } from "./json-pointer.ts";
import { walkJson } from "./walk-json.ts";

/** Arguments that nobody can change any more, or why the value cannot be arguments. */
export type FrozenArguments =
  | { readonly ok: true; readonly arguments: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** Options of {@link freezeArguments}. */
export interface FreezeArgumentsOptions {
  /** Default false. True only for a value that was just parsed and that nobody else holds: it is frozen in place. */
  readonly owned?: boolean | undefined;
  /** Default false. True only for a value that was parsed and deep-frozen in one: nothing is left to be done. */
  readonly frozen?: boolean | undefined;
}

/**
 * Makes the arguments of a call out of a value: a deep-frozen JSON object (PREP-3). A value that is
 * not `owned` is copied, never frozen or changed; a property that is `undefined` counts as absent, as
 * everywhere. Refused: anything but an object at top level, and what {@link walkJson} refuses (PREP-11).
 * The reason names fault and place, never the value.
 */
export function freezeArguments(value: unknown, options: FreezeArgumentsOptions = {}): FrozenArguments {
  const kind = kindOf(value);
  if (kind !== "an object") return { ok: false, reason: `arguments must be a JSON object, not ${kind}` };
  if (options.frozen === true) return { ok: true, arguments: value as JsonObject }; // an object, as was just seen
  const walk = walkJson(value, {
    containers: options.owned === true ? "same" : "fresh",
    freeze: true,
    integers: "any",
  });
  if (!walk.ok)
    return { ok: false, reason: `arguments must be plain JSON, but hold ${walk.fault} ${showPlace(walk.path)}` };
  return { ok: true, arguments: walk.value as JsonObject }; // the top level was seen to be an object
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  try {
    if (Array.isArray(value)) return "an array";
  } catch {
    return "a value that threw when it was read"; // a revoked proxy
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
