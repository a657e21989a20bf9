import { afterAll, describe, expect, it } from "vitest";
import { GameActionDispatcher } from "../../src/actions/dispatcher.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type { DispatchResult, GameActionIntent } from "../../src/domain/action.ts";
import type { Journal } from "../../src/domain/journal.ts";
import { openPostgresJournal } from "../../src/journal/postgres/index.ts";
import { intentOf } from "../actions/rig.ts";
import { type CuttingProxy, openProxy } from "./cutting-proxy.ts";
import { randomFrom, rounds, SEED } from "./long-runs.ts";
import { dropDatabase, makeSite } from "./stores.ts";

afterAll(dropDatabase);

const ROUNDS = rounds(100, 1_000);
const WIDTH = 6;

/** A host of its own: a pool whose every connection leads through a proxy that can be cut. */
interface Host {
  readonly journal: Journal;
  readonly dispatcher: GameActionDispatcher;
  readonly proxy: CuttingProxy;
}

/** What both hosts write into, and what it saw. */
interface SharedWorld {
  readonly writes: Map<string, number>;
  readonly fences: number[];
  /** Most handlers that were at work at the same time. */
  most: number;
}

async function openHosts(world: SharedWorld): Promise<{ readonly hosts: readonly Host[]; close(): Promise<void> }> {
  const { store, remove } = await makeSite("postgres", 20_000);
  if (store.kind !== "postgres") throw new Error("a PostgreSQL store was asked for");
  let running = 0;
  const open = async (): Promise<Host> => {
    const proxy = await openProxy(store.url);
    const journal = await openPostgresJournal(proxy.url, { schema: store.schema });
    const dispatcher = new GameActionDispatcher({
      journal,
      handler: {
        execute: async (intent, { fence }) => {
          running += 1;
          world.most = Math.max(world.most, running);
          world.writes.set(intent.operationId, (world.writes.get(intent.operationId) ?? 0) + 1);
          world.fences.push(fence);
          await Promise.resolve();
          running -= 1;
          return GameActionReceipt.committed(intent, { fence });
        },
      },
    });
    return { proxy, journal, dispatcher };
  };
  const hosts = [await open(), await open()];
  const close = async (): Promise<void> => {
    for (const { journal, proxy } of hosts) {
      await journal.close();
      await proxy.close();
    }
    await remove();
  };
  return { hosts, close };
}

/** Dispatches until there is an answer: what cannot be reached just now is asked again, as a host does. */
async function insistOn({ dispatcher }: Host, intent: GameActionIntent): Promise<DispatchResult> {
  for (;;) {
    try {
      return await dispatcher.dispatch(intent);
    } catch (error) {
      expect(error).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    }
  }
}

/** Lets every host dispatch its intents, some at a time, while the connections of one or the other are cut. */
async function race(
  hosts: readonly Host[],
  intentsOf: (place: number) => readonly GameActionIntent[],
): Promise<{ readonly answers: readonly (readonly DispatchResult[])[]; readonly cuts: number }> {
  const random = randomFrom(SEED);
  let cuts = 0;
  const answers = await Promise.all(
    hosts.map(async (host, place) => {
      const intents = intentsOf(place);
      const answered: DispatchResult[] = [];
      const waiting = [...intents.entries()];
      // Who has not had an answer since the last cut: a network that is gone for good is another test's.
      const unanswered = new Set<number>();
      const noteAnswer = (worker: number): void => {
        unanswered.delete(worker);
        if (unanswered.size > 0 || !host.proxy.hasCut()) return;
        for (let each = 0; each < WIDTH; each += 1) unanswered.add(each);
        cuts += 1;
        host.proxy.arm({ lost: random() < 0.5 ? "request" : "answer", message: 1 + Math.floor(random() * 6) });
      };
      const work = async (worker: number): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          answered[next[0]] = await insistOn(host, next[1]);
          noteAnswer(worker);
        }
      };
      await Promise.all(Array.from({ length: WIDTH }, (_, worker) => work(worker)));
      return answered;
    }),
  );
  return { answers, cuts };
}

const newWorld = (): SharedWorld => ({ writes: new Map(), fences: [], most: 0 });

describe(`two hosts that race while their connections are cut (seed ${SEED})`, () => {
  it(`ACT-1, ACT-7: for each of ${ROUNDS} operation ids: one execution, and both get its receipt`, {
    timeout: 300_000,
  }, async () => {
    const world = newWorld();
    const { hosts, close } = await openHosts(world);
    const intents = Array.from({ length: ROUNDS }, (_, place) => intentOf(`op-${place}`));
    const { answers, cuts } = await race(hosts, () => intents);
    expect(cuts).toBeGreaterThan(ROUNDS / (WIDTH * 6));
    expect([...world.writes.values()].filter((count) => count !== 1)).toEqual([]);
    expect(world.writes.size).toBe(ROUNDS);
    const [one, other] = answers.map((each) => each.map(({ receipt }) => receipt));
    expect(one).toEqual(other);
    expect(new Set(one?.map((receipt) => receipt?.status))).toEqual(new Set(["committed"]));
    const { journal } = hosts[0] as Host;
    expect((await journal.listOpen({ limit: 10 })).entries).toEqual([]);
    await close();
  });

  it(`ACT-4: for one key, ${ROUNDS} times: never two at once, fences rise, nobody is left out`, {
    timeout: 300_000,
  }, async () => {
    const world = newWorld();
    const { hosts, close } = await openHosts(world);
    const intentsOf = (place: number) =>
      Array.from({ length: ROUNDS / 2 }, (_, number) => intentOf(`op-${place}-${number}`, { conflictKeys: ["k"] }));
    const { answers, cuts } = await race(hosts, intentsOf);
    expect(cuts).toBeGreaterThan(ROUNDS / (WIDTH * 6));
    expect(world.most).toBe(1);
    expect([...world.writes.values()].filter((count) => count !== 1)).toEqual([]);
    expect(world.fences).toHaveLength(ROUNDS);
    expect(world.fences.every((fence, place) => place === 0 || fence > (world.fences[place - 1] ?? 0))).toBe(true);
    expect(new Set(answers.flat().map(({ receipt }) => receipt?.status))).toEqual(new Set(["committed"]));
    await close();
  });

  it(`ACT-4: for crossed sets of keys, ${ROUNDS} times: never two at once on a key, and no deadlock`, {
    timeout: 300_000,
  }, async () => {
    const world = newWorld();
    const { hosts, close } = await openHosts(world);
    const sets = [
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
      ["c", "b", "a"],
    ];
    const intentsOf = (place: number) =>
      Array.from({ length: ROUNDS / 2 }, (_, number) =>
        intentOf(`op-${place}-${number}`, { conflictKeys: sets[(number + place) % sets.length] ?? [] }),
      );
    const { answers } = await race(hosts, intentsOf);
    // Any two of the sets share a key.
    expect(world.most).toBe(1);
    expect([...world.writes.values()].filter((count) => count !== 1)).toEqual([]);
    expect(answers.flat()).toHaveLength(ROUNDS);
    expect(new Set(answers.flat().map(({ receipt }) => receipt?.status))).toEqual(new Set(["committed"]));
    await close();
  });
});
