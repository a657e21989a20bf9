import { types } from "node:util";
import type { KernelErrorCode } from "toolkernel";

/** One way to call what the package exports. */
export interface PublicCall {
  /** As a caller would write it, such as `fileKey` or `session.execute`. */
  readonly name: string;
  /** Arguments that are right, with every option given; made anew for each call. */
  readonly good: () => readonly unknown[];
  readonly call: (given: readonly unknown[]) => Promise<unknown>;
  /** Places of objects whose names are all known: one more is refused. */
  readonly closed: readonly string[];
  /** Places of names, ids and paths, which a message may say: nothing secret is kept there. */
  readonly shown: readonly string[];
  /** What even good arguments are refused with, where there is nothing to be opened. */
  readonly refuses: KernelErrorCode | undefined;
}

/** What is said of a call beside its arguments. */
interface CallFacts<Given extends readonly unknown[], Answer> {
  readonly of: (...given: Given) => Answer;
  /** Uses what the call answered: waits for it, reads it, closes it. */
  readonly use?: (answer: Awaited<Answer>) => unknown;
  readonly closed?: readonly string[];
  readonly shown?: readonly string[];
  readonly refuses?: KernelErrorCode;
}

/** Makes a {@link PublicCall} whose good arguments the compiler holds to the function's own types. */
export function publicCall<Given extends readonly unknown[], Answer>(
  name: string,
  good: () => Given,
  { of: call, use, closed = [], shown = [], refuses }: CallFacts<Given, Answer>,
): PublicCall {
  return {
    name,
    good,
    call: async (given) => {
      // What is spoiled is of the wrong type on purpose.
      const made = call(...(given as unknown as Given));
      // Whatever a function hands through unread is not waited for either.
      const answer = types.isPromise(made) ? await made : made;
      return use === undefined ? undefined : use(answer as Awaited<Answer>);
    },
    closed,
    shown,
    refuses,
  };
}
