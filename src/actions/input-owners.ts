import { KernelError } from "../domain/errors.ts";

/**
 * Which run uses which input object.
 * Owns: the first run of every input that tools were given as an object. Invariant: an input keeps its
 * run for the life of the process; it is told apart by identity, since a host that runs the same input
 * again after a crash makes a new object of the same content (ACT-8).
 */
export class InputOwners {
  readonly #runs = new WeakMap<object, string>();

  /** @throws KernelError `INVALID_OPTIONS` when another run has the input. */
  bind(input: object, runId: string): void {
    const owner = this.#runs.get(input);
    if (owner === runId) return;
    if (owner !== undefined) {
      throw new KernelError(
        "INVALID_OPTIONS",
        `The input of a durable tool belongs to run ${owner}; in run ${runId} its actions would be silent replays. Give each run an input of its own, or pass a function.`,
        { subject: "input" },
      );
    }
    this.#runs.set(input, runId);
  }
}
