/**
 * Why a call did not succeed. A category tells the host what kind of trouble it was; it is never an
 * invitation to retry a write (UNC-8).
 */
export type FailureCategory =
  | "invalidArguments"
  | "authorization"
  | "ruleRejected"
  | "transient"
  | "timeout"
  | "cancelled"
  | "conflict"
  | "internal"
  | "unspecified";

/** Every failure category, for validation of what a host or tool declares. */
export const FAILURE_CATEGORIES: readonly FailureCategory[] = [
  "invalidArguments",
  "authorization",
  "ruleRejected",
  "transient",
  "timeout",
  "cancelled",
  "conflict",
  "internal",
  "unspecified",
];
