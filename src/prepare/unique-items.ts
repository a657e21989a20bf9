import type { DataValidateFunction, FuncKeywordDefinition } from "ajv/dist/types/index.js";
import stableStringify from "fast-json-stable-stringify";

/**
 * The keyword `uniqueItems` in time that grows with the list: ajv compares every item with every other, and
 * 30,000 objects held the process up for a minute. Items are equal as JSON has it, whatever the order of their keys.
 */
export const UNIQUE_ITEMS: FuncKeywordDefinition = Object.freeze({
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  errors: true,
  compile: (isWanted: boolean): DataValidateFunction => {
    const check: DataValidateFunction = (items: readonly unknown[]) => {
      const twins = isWanted ? findTwins(items) : undefined;
      if (twins === undefined) return true;
      const { i, j } = twins;
      const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
      check.errors = [{ keyword: "uniqueItems", params: twins, message }];
      return false;
    };
    return check;
  },
});

/** The last item that has an equal before it, and the last such one, as ajv finds them. */
function findTwins(items: readonly unknown[]): { readonly i: number; readonly j: number } | undefined {
  const places = new Map<unknown, number>();
  const texts = new Map<string, number>();
  let found: { readonly i: number; readonly j: number } | undefined;
  for (const [i, item] of items.entries()) {
    const isContainer = typeof item === "object" && item !== null;
    const [known, key]: readonly [Map<unknown, number>, unknown] = isContainer
      ? [texts, stableStringify(item)]
      : [places, item];
    const j = known.get(key);
    if (j !== undefined) found = { i, j };
    known.set(key, i);
  }
  return found;
}
