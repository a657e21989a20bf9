import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rounds } from "./long-runs.ts";
import { buildChild, type Child, spawnChild } from "./spawn-child.ts";
import { type CrashSite, dropDatabase, makeSite, STORES } from "./stores.ts";
import { World, worldFaults } from "./world.ts";

beforeAll(buildChild);
afterAll(dropDatabase);

const ROUNDS = rounds(120, 1_000);

interface Race {
  readonly site: CrashSite;
  readonly width: number;
  /** Which operations the process with this number dispatches. */
  readonly operationsOf: (place: number) => readonly { readonly operationId: string; readonly key: string }[];
}

/** Lets processes start at the same time and run to their end. */
async function race({ site, width, operationsOf }: Race, processes: number): Promise<readonly Child[]> {
  const children = Array.from({ length: processes }, (_, place) =>
    spawnChild({
      store: site.store,
      worldPath: site.worldPath,
      crashAt: "never",
      operations: operationsOf(place),
      width,
      writeMs: 0,
      waitsForStart: true,
    }),
  );
  await Promise.all(children.map((child) => child.says(({ ready }) => ready === true)));
  for (const child of children) child.start();
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(Array(processes).fill(0));
  return children;
}

function receiptsOf(child: Child): Map<string, string> {
  return new Map(
    child.said.flatMap(({ operationId, receipt }) =>
      operationId === undefined ? [] : [[operationId, JSON.stringify(receipt)]],
    ),
  );
}

describe.each(STORES)("processes that race, on %s", (kind) => {
  it(`ACT-1, ACT-4: for ${ROUNDS} operation ids: one execution each, and both get its receipt`, {
    timeout: 120_000,
  }, async () => {
    const site = await makeSite(kind, 10_000);
    const operations = Array.from({ length: ROUNDS }, (_, place) => ({ operationId: `op-${place}`, key: "" }));
    const [one, other] = await race({ site, width: 8, operationsOf: () => operations }, 2);
    const events = new World(site.worldPath).events();
    expect(worldFaults(events)).toEqual([]);
    expect(events.filter(({ event }) => event === "begun")).toHaveLength(ROUNDS);
    if (one === undefined || other === undefined) throw new Error("two processes were started");
    expect(receiptsOf(one)).toEqual(receiptsOf(other));
    expect(receiptsOf(one).size).toBe(ROUNDS);
    const dispositions = [one, other].flatMap(({ said }) => said.map(({ disposition }) => disposition));
    expect(dispositions.filter((each) => each === "executed")).toHaveLength(ROUNDS);
    expect(dispositions.filter((each) => each === "replayed")).toHaveLength(ROUNDS);
    await site.remove();
  });

  it(`ACT-4: for one key, ${ROUNDS} times: never two at once, fences rise, nobody is left out`, {
    timeout: 120_000,
  }, async () => {
    const site = await makeSite(kind, 10_000);
    const share = Math.ceil(ROUNDS / 3);
    const operationsOf = (place: number) =>
      Array.from({ length: share }, (_, number) => ({ operationId: `op-${place}-${number}`, key: "the key" }));
    const children = await race({ site, width: 3, operationsOf }, 3);
    const events = new World(site.worldPath).events();
    expect(worldFaults(events)).toEqual([]);
    expect(events.filter(({ event }) => event === "done")).toHaveLength(share * 3);
    for (const { said } of children) {
      const dispositions = said.flatMap(({ disposition }) => (disposition === undefined ? [] : [disposition]));
      expect(dispositions).toEqual(Array(share).fill("executed"));
    }
    await site.remove();
  });
});
