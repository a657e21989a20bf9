import { KernelError } from "./errors.ts";
import { isName } from "./names.ts";

/** A check of one option: what is wrong with a value, or undefined. */
export type OptionCheck = (value: unknown) => string | undefined;

/** One of the strings named. */
export function oneOf(...allowed: readonly string[]): OptionCheck {
  return (value) =>
    typeof value === "string" && allowed.includes(value) ? undefined : `must be one of ${allowed.join(", ")}`;
}

/** A function. */
export const mustBeFunction: OptionCheck = (value) => (typeof value === "function" ? undefined : "must be a function");
/** True or false. */
export const mustBeBoolean: OptionCheck = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
/** A string. */
export const mustBeString: OptionCheck = (value) => (typeof value === "string" ? undefined : "must be a string");
/** Anything at all. */
export const mayBeAnything: OptionCheck = () => undefined;
/** A list. */
export const mustBeList: OptionCheck = (value) => (Array.isArray(value) ? undefined : "must be an array");
/** An object that is not an array. */
export const mustBeRecord: OptionCheck = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be an object";
/** An id; see `isName`. */
export const mustBeId: OptionCheck = (value) =>
  isName(value) ? undefined : "must be a string of 1 to 512 UTF-8 bytes, well-formed, without NUL";

/** An object with methods of these names. */
export function mustHaveMethods(...names: readonly string[]): OptionCheck {
  return (value) => {
    const given = value as Readonly<Record<string, unknown>> | null | undefined; // looked at, not trusted
    const missing = names.find((name) => typeof given?.[name] !== "function");
    return missing === undefined ? undefined : `must have a method ${missing}`;
  };
}

/** A signal that says when to end. */
export const mustBeSignal: OptionCheck = (value) =>
  mustHaveMethods("addEventListener", "removeEventListener")(value) === undefined
    ? undefined
    : "must be an AbortSignal";
/** What tells the time, and when it is over. */
export const mustBeClock: OptionCheck = (value) => mustHaveMethods("now", "setTimer")(value);

/** A whole number between two bounds, both allowed. */
export function wholeNumber(minimum: number, maximum: number): OptionCheck {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum
      ? undefined
      : `must be a whole number from ${minimum} to ${maximum}`;
}

/** A time-out: a whole number of milliseconds, as long as a timer can be. */
export const mustBeTimeout: OptionCheck = wholeNumber(1, 2_147_483_647);

/**
 * Checks an options object: every option known and right; `undefined` counts as absent.
 * @throws KernelError `INVALID_OPTIONS` with the option's path as `subject`.
 */
export function checkOptions(
  given: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  { path, required = [] }: { readonly path: string; readonly required?: readonly string[] },
): Readonly<Record<string, unknown>> {
  return readGiven(path, () => {
    if (mustBeRecord(given) !== undefined) throw invalidOption(path, "must be an object");
    const options = given as Readonly<Record<string, unknown>>; // an object, as was just checked
    for (const name of required) {
      if (options[name] === undefined) throw invalidOption(at(path, name), "is missing");
    }
    for (const [name, value] of Object.entries(options)) {
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      const place = at(path, name.slice(0, 64));
      if (check === undefined) throw invalidOption(place, "is not a known option; check its spelling");
      if (value !== undefined) checkGiven(value, place, check);
    }
    return options;
  });
}

/** Checks one value. @throws KernelError `INVALID_OPTIONS` with its path as `subject`. */
export function checkGiven(value: unknown, path: string, check: OptionCheck): void {
  const fault = findFault(value, check);
  if (fault !== undefined) throw invalidOption(path, fault);
}

/** What is wrong with a value, or undefined; that it throws when it is looked at is a fault as well. */
export function findFault(value: unknown, check: OptionCheck): string | undefined {
  try {
    return check(value);
  } catch {
    return "cannot be read";
  }
}

/**
 * Reads what a host has given. What reading it throws, since a getter throws or it is of another form than it
 * should be, becomes a KernelError that names it; the cause is attached, nothing of it is in the message.
 * @throws KernelError `INVALID_OPTIONS` with the path as `subject`; a KernelError of `read` as it is.
 */
export function readGiven<Read>(path: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (isKernelError(error)) throw error;
    const message = `${path} cannot be read; give it the form that its documentation describes.`;
    throw new KernelError("INVALID_OPTIONS", message, { subject: path, cause: error });
  }
}

/** The error for a bad option. */
export function invalidOption(path: string, fault: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `${path} ${fault}.`, { subject: path });
}

/** A revoked proxy may be thrown as well. */
function isKernelError(thrown: unknown): thrown is KernelError {
  try {
    return thrown instanceof KernelError;
  } catch {
    return false;
  }
}

function at(path: string, name: string): string {
  return path === "options" ? name : `${path}.${name}`;
}
