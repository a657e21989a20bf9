import pg from "pg";
import type { PostgresPool } from "../../src/journal/postgres/index.ts";

/** A pool of which a test can cut off whoever uses it, and which notes what was asked. */
export interface CutPool extends PostgresPool {
  /** From now on no statement is answered; those under way fail. */
  cut(): void;
  mend(): void;
  /** Every statement so far. */
  readonly statements: readonly string[];
  end(): Promise<void>;
}

/** Opens such a pool on a database. */
export function openCutPool(url: string): CutPool {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => undefined);
  const statements: string[] = [];
  let isCut = false;
  return {
    connect: async () => {
      if (isCut) throw new Error("the network is gone");
      const client = await pool.connect();
      return new Proxy(client, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== "function") return value;
          if (name !== "query") return value.bind(target);
          return (text: string, values?: unknown[]) => {
            statements.push(text);
            return isCut ? Promise.reject(new Error("the network is gone")) : target.query(text, values);
          };
        },
      });
    },
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
    statements,
    end: () => pool.end(),
  };
}
