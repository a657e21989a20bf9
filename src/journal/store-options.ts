import { KernelError } from "../domain/errors.ts";

/** Options that every store on disk or on a server has. */
export interface LeaseOptions {
  /**
   * How long a process that gives no sign of life keeps what it has dispatched from becoming uncertain,
   * default 30,000. In a SQLite file a dead process is noticed by its lock, without waiting for this.
   */
  readonly leaseMs?: number | undefined;
  /** How often a process gives a sign of life, and looks for those who do not, default 5,000. */
  readonly heartbeatMs?: number | undefined;
}

/** Lease options with their defaults. */
export interface Lease {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

const LONGEST_MS = 86_400_000;

/**
 * Reads lease options.
 * @throws KernelError `INVALID_OPTIONS` when one is not a whole number of milliseconds from 1 to a day, or
 * the heartbeat does not come at least twice within the lease.
 */
export function readLease(options: LeaseOptions): Lease {
  const { leaseMs = 30_000, heartbeatMs = 5_000 } = options;
  for (const [name, value] of Object.entries({ leaseMs, heartbeatMs })) {
    if (Number.isInteger(value) && value >= 1 && value <= LONGEST_MS) continue;
    throw invalid(name, `a whole number of milliseconds from 1 to ${LONGEST_MS}`);
  }
  if (heartbeatMs * 2 > leaseMs) throw invalid("heartbeatMs", "at most half of leaseMs");
  return { leaseMs, heartbeatMs };
}

function invalid(subject: string, wanted: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `The store needs ${subject} to be ${wanted}.`, { subject });
}
