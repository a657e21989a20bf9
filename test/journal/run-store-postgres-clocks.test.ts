import { describe, expect, it } from "vitest";
import { openPostgresRunStore } from "../../src/journal/postgres/index.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";
import { FAKETIME, WHY_NO_FAKETIME } from "../support/faked-time.ts";
import { BACK, JUMPS, SHORT, setTimedScene } from "../support/timed-scene.ts";

describe.skipIf(FAKETIME === undefined)(
  `a run store's server whose clock is set to another time${WHY_NO_FAKETIME}`,
  () => {
    const { server, here, mortalPool } = setTimedScene();

    describe.each(JUMPS)("%s", (_name, aheadMs) => {
      it("RUN-6: a run whose process is dead can be taken, and who lives is told so by the list", async () => {
        const pool = mortalPool();
        const dead = await openPostgresRunStore(pool, here(SHORT));
        const other = await openPostgresRunStore(server.url, here(SHORT));
        await (await dead.claim("run", { create: true })).append([fact(1)]);
        pool.cut();
        server.setClock(aheadMs);
        const isClaimed = async () => (await other.listOpen({ limit: 1 })).runs[0]?.claimed;
        await expect.poll(isClaimed, { timeout: 5_000 }).toBe(false);
        const claim = await other.claim("run", { create: false });
        expect(claim.facts).toEqual(factsUpTo(1));
        await claim.append([fact(2)]);
        await dead.close();
        await other.close();
      });
    });

    it.each(BACK)("RUN-6: %s: a dead process's run can be taken by who asks for nothing else", async (_name, ms) => {
      const pool = mortalPool();
      const dead = await openPostgresRunStore(pool, here(SHORT));
      const other = await openPostgresRunStore(server.url, here(SHORT));
      await (await dead.claim("run", { create: true })).append([fact(1)]);
      pool.cut();
      server.setClock(ms);
      const take = async () => (await other.claim("run", { create: false })).facts;
      await expect.poll(() => take().catch((error) => error.code), { timeout: 5_000 }).toEqual(factsUpTo(1));
      await dead.close();
      await other.close();
    });

    it.each(BACK)("RUN-6: %s: a living process goes on recording, and only it", async (_name, ms) => {
      const store = await openPostgresRunStore(server.url, here(SHORT));
      const other = await openPostgresRunStore(server.url, here(SHORT));
      const claim = await store.claim("run", { create: true });
      for (let place = 1; place <= 6; place += 1) {
        server.setClock(place % 2 === 0 ? 0 : ms);
        await claim.append([fact(place)]);
        await expect(other.claim("run", { create: false })).rejects.toMatchObject({ code: "RUN_CLAIMED" });
      }
      await claim.release();
      expect((await other.claim("run", { create: false })).facts).toEqual(factsUpTo(6));
      await store.close();
      await other.close();
    });
  },
);
