/** What no value given by a caller may show up with in a message. */
export const SECRET = "hunter2-payload";

function thrower(): never {
  throw new Error(SECRET);
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const THROWING: ProxyHandler<object> = { get: thrower, has: thrower, ownKeys: thrower, getPrototypeOf: thrower };

/** Values that hardly any parameter takes, by what they are. Each call makes a new one. */
export const BAD_VALUES: readonly (readonly [string, () => unknown])[] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["5", () => 5],
  ["-1.5", () => -1.5],
  ["an empty text", () => ""],
  ["a text", () => SECRET],
  ["true", () => true],
  ["a bigint", () => 10n],
  ["a symbol", () => Symbol(SECRET)],
  ["an empty object", () => ({})],
  ["an empty list", () => []],
  ["a list of null", () => [null]],
  ["a list of numbers", () => [5]],
  ["a list of empty objects", () => [{}]],
  ["a revoked proxy", revokedProxy],
  ["a list of a revoked proxy", () => [revokedProxy()]],
  ["an object whose getters throw", () => new Proxy({}, THROWING)],
  ["a list whose getters throw", () => new Proxy([], THROWING)],
];

/** Arguments that differ from good ones in one place. */
export interface Spoiled {
  readonly what: string;
  /** The place, such as `1.limits.maxTurns`: which argument, and where in it. */
  readonly place: string;
  readonly given: readonly unknown[];
}

/**
 * Every way in which one place of good arguments can be spoiled: each argument, each field of plain objects and
 * lists among them, however deep, and fewer arguments than there are.
 */
export function* spoil(good: () => readonly unknown[]): Generator<Spoiled, void> {
  for (let count = 0; count < good().length; count += 1) {
    yield { what: `only ${count} arguments`, place: "", given: good().slice(0, count) };
  }
  for (const path of pathsOf(good())) {
    for (const [what, make] of BAD_VALUES) {
      const given = [...good()];
      yield { what, place: path.join("."), given: replaceAt(given, path, make()) as unknown[] };
    }
  }
}

/** Good arguments with one name more in the object at a place, which nobody knows. */
export function misspell(good: readonly unknown[], place: string): readonly unknown[] {
  const path = place.split(".");
  return replaceAt(good, path, { ...(valueAt(good, path) as object), misspelled: SECRET }) as unknown[];
}

type Path = readonly string[];

function pathsOf(value: unknown, at: Path = []): readonly Path[] {
  const inner = isPlain(value) ? Object.keys(value).flatMap((key) => pathsOf(fieldOf(value, key), [...at, key])) : [];
  return at.length === 0 ? inner : [at, ...inner];
}

function replaceAt(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const inner = replaceAt(fieldOf(value, key), rest, replacement);
  return Array.isArray(value)
    ? value.map((item, index) => (String(index) === key ? inner : item))
    : { ...(value as object), [key]: inner };
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce(fieldOf, value);
}

function fieldOf(value: unknown, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key]; // places come from the value itself
}

/** What is made by a class, or frozen by the package, is one value to whoever calls. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || (Object.getPrototypeOf(value) === Object.prototype && !Object.isFrozen(value));
}
