import { types } from "node:util";
import { fillPostgresStore, openPostgresJournal, openPostgresRunStore } from "toolkernel/postgres";
import { moveSqliteStore, openSqliteJournal, openSqliteRunStore } from "toolkernel/sqlite";
import { simulatedClock } from "toolkernel/testing";
import { type PublicCall, publicCall } from "./public-call.ts";

type Calls = Readonly<Record<string, readonly PublicCall[]>>;

// Frozen, and so one value.
const NO_POOL = Object.freeze({ connect: () => Promise.reject(new Error("no")) });

/** Texts and objects may well be the options of a pool, and would be tried on a server. */
function isConfig(pool: unknown): boolean {
  return (
    typeof pool === "string" || (typeof pool === "object" && pool !== null && pool !== NO_POOL && !types.isProxy(pool))
  );
}

// What opens a store is refused before anything is opened: nothing here has a path or a pool that is right.
function refusedFile(name: string, open: unknown): PublicCall {
  const given = (): [string, object] => [
    "",
    { leaseMs: 1_000, heartbeatMs: 100, driver: class {}, clock: simulatedClock().clock },
  ];
  return publicCall(name, given, {
    of: open as (file: string, options: object) => unknown,
    closed: ["1"],
    shown: ["0"],
    refuses: "INVALID_OPTIONS",
  });
}

function refusedPool(name: string, open: unknown): PublicCall {
  const given = (): [object, object] => [
    NO_POOL,
    { leaseMs: 1_000, heartbeatMs: 100, schema: "s", clock: simulatedClock().clock, mustExist: true },
  ];
  const of = (given: object, options: object): unknown =>
    isConfig(given) ? undefined : (open as (pool: object, options: object) => unknown)(given, options);
  return publicCall(name, given, { of, closed: ["1"], refuses: "JOURNAL_UNAVAILABLE" });
}

const STORE = { scopes: () => [], entries: () => [], evidence: () => [], runs: () => [], facts: () => [] };

/** What opens and moves stores, by entry. */
export const STORE_CALLS: Readonly<Record<string, Calls>> = {
  "toolkernel/sqlite": {
    openSqliteJournal: [refusedFile("openSqliteJournal", openSqliteJournal)],
    openSqliteRunStore: [refusedFile("openSqliteRunStore", openSqliteRunStore)],
    moveSqliteStore: [
      publicCall(
        "moveSqliteStore",
        (): [string, object, () => never] => ["", { driver: class {} }, () => undefined as never],
        {
          of: (file, options, receive) => moveSqliteStore(file, options as never, receive),
          refuses: "INVALID_OPTIONS",
          closed: ["1"],
          shown: ["0"],
        },
      ),
    ],
  },
  "toolkernel/postgres": {
    openPostgresJournal: [refusedPool("openPostgresJournal", openPostgresJournal)],
    openPostgresRunStore: [refusedPool("openPostgresRunStore", openPostgresRunStore)],
    fillPostgresStore: [
      publicCall(
        "fillPostgresStore",
        (): [object, object, object] => [NO_POOL, { ...STORE }, { leaseMs: 1_000, heartbeatMs: 100, schema: "s" }],
        {
          of: (pool, contents, options) =>
            isConfig(pool) ? undefined : fillPostgresStore(pool as never, contents as never, options),
          refuses: "JOURNAL_UNAVAILABLE",
          closed: ["2"],
        },
      ),
    ],
  },
};
