/** Text that every provider takes: one that refuses a lone surrogate would refuse every later request too. */

/**
 * The same plain data with every lone surrogate in texts and names replaced by U+FFFD; the very same object where
 * there is none, else a frozen copy. Some of its own fields, which are opaque, stay as they are. Throws a RangeError
 * for nesting without end.
 */
export function wellFormedBeside<Value extends object>(value: Value, opaque: readonly string[]): Value {
  // Nearly always there is none, and to see that nothing has to be made.
  if (isWellFormed(value, opaque)) return value;
  const seen = Object.fromEntries(Object.entries(value).filter(([name]) => !opaque.includes(name)));
  return Object.freeze({ ...value, ...(mend(seen) as object) }); // of the same shape
}

const NONE: readonly string[] = [];

function isWellFormed(value: unknown, opaque = NONE): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isWellFormed(item));
  for (const name of Object.keys(value)) {
    if (opaque.includes(name)) continue;
    if (!name.isWellFormed() || !isWellFormed((value as Readonly<Record<string, unknown>>)[name])) return false;
  }
  return true;
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(mend));
  const fields = Object.entries(value).map(([name, field]) => [name.toWellFormed(), mend(field)] as const);
  return Object.freeze(Object.fromEntries(fields));
}
