import { KernelError, type KernelErrorFields } from "../domain/errors.ts";

/** What was thrown, if it is an Error, else an Error that holds it. Reading it never throws. */
export function asError(thrown: unknown, message: string): Error {
  return isOf(thrown, Error) ? thrown : new Error(message, { cause: thrown });
}

/** What was thrown, if it is a KernelError, else `INVALID_OPTIONS` that holds it. Reading it never throws. */
export function asMisuse(thrown: unknown, message: string, subject?: KernelErrorFields["subject"]): KernelError {
  return isOf(thrown, KernelError) ? thrown : new KernelError("INVALID_OPTIONS", message, { subject, cause: thrown });
}

function isOf<Kind extends Error>(thrown: unknown, kind: abstract new (...given: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}
