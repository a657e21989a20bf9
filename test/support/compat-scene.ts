import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { applyCompat, compat } from "../../src/prepare/compat.ts";

/** An object schema with these properties, all optional unless named. */
export function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

/** Arguments and the repairs as `step pointer`, after all steps. */
export function repaired(schema: JsonObject, draft: JsonValue): readonly [JsonValue, ...string[]] {
  const result = applyCompat(compat.all, schema, draft);
  return [result.draft, ...result.repairs.map(({ step, pointer }) => `${step} ${pointer}`)];
}

export const INTEGER: JsonObject = { type: "integer" };

export const STRING: JsonObject = { type: "string" };

export const STRINGS: JsonObject = { type: "array", items: STRING };
