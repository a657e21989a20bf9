/**
 * Of properties, what a moment allows: the same cases for every mutant, and no search for a smaller one. The worker
 * outlives its mutants, so that none may still be switched on while files are loaded for the next.
 */
import fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    readonly globalNamespace?: string;
    readonly mutantActivation?: string;
  }
}

const MOMENT_MS = process.env.MUTATED === "run" ? 250 : 1_500;

fc.configureGlobal({ seed: 1, endOnFailure: true, interruptAfterTimeLimit: MOMENT_MS });

const namespace = inject("globalNamespace");
if (namespace !== undefined && inject("mutantActivation") !== "static") {
  const mutants = (globalThis as Record<string, unknown>)[namespace] as { activeMutant?: string | undefined };
  mutants.activeMutant = undefined;
}
