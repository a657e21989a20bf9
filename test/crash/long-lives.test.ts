import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COUNTED, type Cost, LEFT, type LongOrders, type LongSaid } from "./long-lines.ts";
import { rounds, SEED } from "./long-runs.ts";
import { buildProgram, spawnProgram } from "./spawn-program.ts";
import { dropDatabase, makeSite, STORES } from "./stores.ts";

beforeAll(() => buildProgram("long-journal-child"));
afterAll(dropDatabase);

const OPERATIONS = rounds(20_000, 1_000_000);
const KEYS = OPERATIONS / 10;
const LEASE_MS = 30_000;

/** Pages of all trees and tables from the top down, for what an action looks at: more only if a table is gone through. */
const MOST_PAGES = { sqlite: 20, postgres: 200 } as const;

/** What a process has found, by name. */
interface Life {
  readonly costs: ReadonlyMap<string, Cost>;
  readonly found: ReadonlyMap<string, number>;
  readonly heaps: readonly number[];
}

async function live(kind: (typeof STORES)[number]): Promise<Life> {
  const site = await makeSite(kind, LEASE_MS);
  const orders: LongOrders = { store: site.store, operations: OPERATIONS, keys: KEYS, seed: SEED };
  const child = spawnProgram<LongSaid>({ name: "long-journal-child", orders });
  expect(await child.ended).toBe(0);
  await site.remove();
  const { said } = child;
  return {
    costs: new Map(said.flatMap((each) => ("cost" in each ? [[each.cost, each.of]] : []))),
    found: new Map(said.flatMap((each) => ("found" in each ? [[each.found, each.count]] : []))),
    heaps: said.flatMap((each) => ("heap" in each ? [each.heap] : [])),
  };
}

function costOf(life: Life, name: string): Cost {
  const cost = life.costs.get(name);
  if (cost === undefined) throw new Error(`nothing was said of ${name}`);
  return cost;
}

describe.each(STORES)(`a journal of ${OPERATIONS} actions over ${KEYS} keys, on %s (seed ${SEED})`, (kind) => {
  it("ACT-1, ACT-5, ACT-10: costs what it did when it was new, forgets beside its work, never runs what it has forgotten, and finds what was left", {
    timeout: 120_000 + OPERATIONS * 4,
  }, async () => {
    const life = await live(kind);
    const [few, many] = [costOf(life, "act few"), costOf(life, "act many")];
    expect(many.statements).toBe(few.statements);
    expect(many.pages / COUNTED).toBeLessThan(MOST_PAGES[kind]);
    const [openFew, openMany] = [costOf(life, "open few"), costOf(life, "open many")];
    expect(openMany.pages).toBeLessThan(2 * openFew.pages + 20);
    // A small table PostgreSQL goes through faster than it looks 200 entries of it up, and it knows that.
    const isSmall = (name: string) => kind === "postgres" && name === "forget" && OPERATIONS < 1_000_000;
    for (const [name, { scanned }] of life.costs) if (!isSmall(name)) expect([name, scanned]).toEqual([name, 0]);

    expect(life.heaps).toHaveLength(10);
    expect(Math.max(...life.heaps.slice(1))).toBeLessThan(1.3 * (life.heaps[0] ?? 0));

    const forget = costOf(life, "forget");
    const pruned = life.found.get("pruned") ?? 0;
    expect(pruned).toBeGreaterThan(OPERATIONS * 0.4);
    expect(life.found.get("pruned again")).toBe(0);
    expect(forget.transactions).toBeGreaterThan(pruned / 200);
    expect(forget.mostChanged).toBeLessThanOrEqual(200);
    expect(forget.pages / OPERATIONS).toBeLessThan(MOST_PAGES[kind]);
    expect(life.found.get("during: replayed")).toBeGreaterThan(0);
    expect(life.found.get("during: OPERATION_FORGOTTEN")).toBeGreaterThan(0);
    expect([...life.found.keys()].filter((name) => name.startsWith("during: "))).toHaveLength(2);
    expect(life.found.get("handler called again")).toBe(0);
    const forgotten = Array(3).fill("OPERATION_FORGOTTEN").join(" ");
    expect(life.found.get(`after: ${forgotten} replayed`)).toBe(1);

    expect([life.found.get("uncertain"), life.found.get("listed")]).toEqual([LEFT, LEFT]);
    expect(costOf(life, "sweep").pages / LEFT).toBeLessThan(MOST_PAGES[kind]);
  });
});
