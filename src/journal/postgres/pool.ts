import { KernelError } from "../../domain/errors.ts";

/** One connection, as `pg` gives it. Structural, so that any version of `pg` fits. */
export interface PostgresClient {
  /** As the server named its process when the connection began; a pooler in between gives a name of its own. */
  readonly processID?: number | null | undefined;
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** A message that a connection which listens is given. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** What a statement gave. */
export interface PostgresResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A pool of connections, as `pg` gives it. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  /** `max`: how many connections it has at most. A pool that does not say is taken to have one. */
  readonly options?: { readonly max?: number | undefined } | undefined;
}

/** A connection string, the options of a `pg` pool, or such a pool; that one stays the host's. */
export type PoolOrConfig = string | PostgresPool | Readonly<Record<string, unknown>>;

/** A pool, and what closing it means: one of the host's is given back as it was. */
export interface OwnedPool {
  readonly pool: PostgresPool;
  end(): Promise<void>;
}

/**
 * Gives the pool that was passed, or opens one by `pg`.
 * @throws KernelError `INVALID_OPTIONS` for neither, `JOURNAL_UNAVAILABLE` when `pg` is not installed.
 */
export async function openPool(given: PoolOrConfig): Promise<OwnedPool> {
  if (isPool(given)) {
    const stopGuarding = guardNewConnections(given);
    return { pool: given, end: async () => stopGuarding() };
  }
  if (typeof given !== "string" && (typeof given !== "object" || given === null)) {
    throw new KernelError(
      "INVALID_OPTIONS",
      "A PostgreSQL journal needs a pool, a connection string or pool options.",
      {
        subject: "poolOrConfig",
      },
    );
  }
  const poolClass = await loadPoolClass();
  const pool = new poolClass(typeof given === "string" ? { connectionString: given } : given);
  // Idle connections that break are replaced; without a listener they would end the process.
  pool.on("error", () => undefined);
  guardNewConnections(pool);
  return { pool, end: () => pool.end() };
}

/**
 * Listens to errors of connections from their beginning. A pool stops listening when it hands one over, which
 * whoever asked for it hears a moment later: a server that greets and hangs up in one breath would end the
 * process in between. Returns what stops it for connections that are still to come.
 */
function guardNewConnections(pool: PostgresPool & Partial<PoolEvents>): () => void {
  const guard = (client: PostgresClient): void => void client.on("error", () => undefined);
  // A pool of another make may have no events, and then hands over nothing by them.
  pool.on?.("connect", guard);
  return () => void pool.removeListener?.("connect", guard);
}

interface PoolEvents {
  on(event: "connect", listener: (client: PostgresClient) => void): unknown;
  removeListener(event: "connect", listener: (client: PostgresClient) => void): unknown;
}

interface PackagePool extends PostgresPool, PoolEvents {
  on(event: "error", listener: () => void): unknown;
  on(event: "connect", listener: (client: PostgresClient) => void): unknown;
  end(): Promise<void>;
}

type PoolClass = new (options: object) => PackagePool;

async function loadPoolClass(): Promise<PoolClass> {
  try {
    const loaded: unknown = await import("pg");
    const { Pool, default: whole } = loaded as {
      readonly Pool?: PoolClass;
      readonly default?: { readonly Pool?: PoolClass };
    }; // the package's exports
    const found = Pool ?? whole?.Pool;
    if (found !== undefined) return found;
  } catch (error) {
    throw new KernelError("JOURNAL_UNAVAILABLE", "The package pg is not installed; install it, or pass a pool.", {
      cause: error,
    });
  }
  throw new KernelError("JOURNAL_UNAVAILABLE", "The package pg has no Pool; pass a pool.");
}

function isPool(given: PoolOrConfig): given is PostgresPool {
  return typeof given === "object" && given !== null && typeof (given as Partial<PostgresPool>).connect === "function";
}
