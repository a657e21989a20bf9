/** Run stores with one fault each, to hold the conformance suite to: it has to find every one of them. */
import { memoryRunStore, type RunClaim, type RunFact, type RunStore } from "toolkernel";
import { over } from "./broken-journals.ts";

/** Breaks a run store in one way: the store itself, or each claim of it. */
export interface RunFault {
  readonly store?: (inner: RunStore) => Partial<RunStore>;
  readonly claim?: (claim: RunClaim, inner: RunStore) => Partial<RunClaim>;
}

/** Opens a memory run store with a fault. */
export async function openBrokenRuns({ store, claim }: RunFault): Promise<RunStore> {
  const inner = memoryRunStore();
  const broken = over(inner, store?.(inner) ?? {});
  if (claim === undefined) return broken;
  return over(broken, {
    claim: async (runId, options) => {
      const taken = await broken.claim(runId, options);
      return over(taken, claim(taken, inner));
    },
  });
}

type Claim = RunStore["claim"];

const claiming = (change: (inner: Claim) => Claim): RunFault => ({
  store: (inner) => ({ claim: change((runId, options) => inner.claim(runId, options)) }),
});

/** Changes the facts that are recorded. */
const recording = (change: (facts: readonly RunFact[]) => readonly RunFact[]): RunFault => ({
  claim: (claim) => ({ append: (facts, progress) => claim.append(change(facts), progress) }),
});

/** Changes the list of open runs. */
const listing = (
  change: (page: Awaited<ReturnType<RunStore["listOpen"]>>) => Awaited<ReturnType<RunStore["listOpen"]>>,
): RunFault => ({ store: (inner) => ({ listOpen: async (options) => change(await inner.listOpen(options)) }) });

/** The faults, by what such a store does. */
export const RUN_FAULTS: Readonly<Record<string, RunFault>> = {
  "makes what it should only find": claiming((claim) => (runId) => claim(runId, { create: true })),
  "makes nothing": claiming((claim) => (runId) => claim(runId, { create: false })),
  "gives a held run to everybody": {
    store: (inner) => {
      const held = new Map<string, RunClaim>();
      return {
        claim: async (runId, options) => {
          await held.get(runId)?.release();
          const claim = await inner.claim(runId, options);
          held.set(runId, claim);
          return claim;
        },
      };
    },
  },
  "holds all runs when one is held": {
    store: (inner) => {
      let held: string | undefined;
      return {
        claim: async (runId, options) => {
          if (held !== undefined && held !== runId) throw Object.assign(new Error("held"), { code: "RUN_CLAIMED" });
          const claim = await inner.claim(runId, options);
          held = runId;
          const release = async (): Promise<void> => {
            held = undefined;
            await claim.release();
          };
          return over(claim, { release });
        },
      };
    },
  },
  "never gives a run back": { claim: () => ({ release: async () => undefined }) },
  "records for whoever had the run": {
    claim: (claim, inner) => ({
      append: async (facts, progress) => {
        await claim.append(facts, progress).catch(async () => {
          const again = await inner.claim(claim.runId, { create: true });
          await again.append(facts, progress);
          await again.release();
        });
      },
    }),
  },
  "gives back before everything is recorded": {
    claim: (claim) => {
      let isFirst = true;
      return {
        append: async (facts, progress) => {
          for (let turn = 0; turn < 20; turn += 1) await undefined;
          return claim.append(facts, progress);
        },
        release: async () => {
          if (!isFirst) throw new Error("given back");
          isFirst = false;
          await claim.release();
        },
      };
    },
  },
  "takes ids that differ in case for one": claiming((claim) => (runId, options) => claim(runId.toLowerCase(), options)),
  "cuts ids": claiming((claim) => (runId, options) => claim(runId.slice(0, 64), options)),
  "mends ids": claiming(
    (claim) => (runId, options) =>
      claim(typeof runId === "string" ? runId.replace("\0", "").toWellFormed() || "x" : "x", options),
  ),
  "turns facts round": recording((facts) => [...facts].reverse()),
  "drops facts": recording((facts) => facts.slice(1)),
  "keeps so many facts and no more": {
    claim: (claim) => {
      let count = claim.facts.length;
      return {
        append: async (facts, progress) => {
          count += facts.length;
          await claim.append(count > 100 ? [] : facts, progress);
        },
      };
    },
  },
  "mends the texts of facts": recording(
    (facts) =>
      JSON.parse(
        JSON.stringify(facts)
          .replaceAll("\\u0000", "")
          .replaceAll(/\\ud[89a-f]../g, "?"),
      ) as RunFact[],
  ),
  "records appends in the order of their length": {
    claim: (claim) => ({
      append: async (facts, progress) => {
        for (let turn = 0; turn < 30 - (facts[0]?.kind === "dispatched" ? facts[0].index : 0); turn += 1)
          await undefined;
        return claim.append(facts, progress);
      },
    }),
  },
  "hands out the very facts that it was given": {
    store: (inner) => {
      const given = new Map<string, RunFact[]>();
      return {
        claim: async (runId, options) => {
          const claim = await inner.claim(runId, options);
          const facts = given.get(runId) ?? [];
          given.set(runId, facts);
          return over(claim, {
            facts,
            append: async (more, progress) => {
              await claim.append(more, progress);
              facts.push(...more);
            },
          });
        },
      };
    },
  },
  "pays no heed to progress": { claim: (claim) => ({ append: (facts) => claim.append(facts) }) },
  "records a fact of its own": recording((facts) => (facts.length === 0 ? [{ kind: "evidence" }] : facts)),
  "refuses an append of nothing": {
    claim: (claim) => ({
      append: async (facts, progress) => {
        if (facts.length === 0) throw new Error("nothing");
        await claim.append(facts, progress);
      },
    }),
  },
  "lists from the first again": { store: (inner) => ({ listOpen: ({ limit }) => inner.listOpen({ limit }) }) },
  "lists backwards": listing((page) => ({ ...page, runs: [...page.runs].reverse() })),
  "lists nothing": listing(() => ({ runs: [] })),
  "lists everybody's runs as free": listing((page) => ({
    ...page,
    runs: page.runs.map((run) => ({ ...run, claimed: false })),
  })),
  "takes any size of a page": {
    store: (inner) => ({
      listOpen: (options) => inner.listOpen({ ...options, limit: Math.min(Math.max(options.limit, 1), 1_000) || 1 }),
    }),
  },
  "says of every run that it was just changed": {
    store: (inner) => {
      let now = 1;
      return {
        listOpen: async (options) => {
          const page = await inner.listOpen(options);
          return { ...page, runs: page.runs.map((run) => ({ ...run, updatedAtMs: now++ })) };
        },
      };
    },
  },
  "never opens again what has ended": {
    store: (inner) => {
      const ended = new Set<string>();
      return {
        claim: async (runId, options) => {
          const claim = await inner.claim(runId, options);
          return over(claim, {
            append: async (facts, progress) => {
              await claim.append(facts, ended.has(runId) ? undefined : progress);
              if (progress?.status === "completed") ended.add(runId);
            },
          });
        },
      };
    },
  },
  "prunes nothing": { store: () => ({ prune: async () => 0 }) },
  "prunes the young as well": {
    store: (inner) => ({ prune: () => inner.prune({ endedBefore: Number.MAX_SAFE_INTEGER }) }),
  },
  "prunes what somebody holds": {
    store: (inner) => {
      const held = new Set<RunClaim>();
      return {
        claim: async (runId, options) => {
          const claim = await inner.claim(runId, options);
          held.add(claim);
          return claim;
        },
        prune: async (options) => {
          for (const claim of held) await claim.release();
          return inner.prune(options);
        },
      };
    },
  },
  "answers when it is closed": {
    store: (inner) => ({ listOpen: (options) => inner.listOpen(options).catch(() => ({ runs: [] })) }),
  },
};
