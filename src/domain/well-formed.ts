/** Text that every provider takes: one that refuses a lone surrogate would refuse every later request too. */

/**
 * The same plain data with every lone surrogate in texts and names replaced by U+FFFD; the very same object where
 * there is none, else a frozen copy. Some of its own fields, which are opaque, stay as they are. Throws a RangeError
 * for nesting without end.
 */
export function wellFormedBeside<Value extends object>(value: Value, opaque: readonly string[]): Value {
  const seen = Object.fromEntries(Object.entries(value).filter(([name]) => !opaque.includes(name)));
  const mended = mend(seen);
  return mended === seen ? value : Object.freeze({ ...value, ...(mended as object) }); // of the same shape
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(mend);
    return items.some((item, index) => item !== value[index]) ? Object.freeze(items) : value;
  }
  const fields = Object.entries(value);
  const mended = fields.map(([name, field]) => [name.toWellFormed(), mend(field)] as const);
  const isSame = mended.every(([name, field], index) => name === fields[index]?.[0] && field === fields[index]?.[1]);
  return isSame ? value : Object.freeze(Object.fromEntries(mended));
}
