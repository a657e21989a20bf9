/** Journals with one fault each, to hold the conformance suite to: it has to find every one of them. */
import type { ClaimAnswer, ClaimRequest, Journal, JournalEntry, JournalProtocol } from "toolkernel";
import { memoryJournal } from "toolkernel";

/** Breaks a journal in one way. */
export type JournalFault = (inner: Journal) => {
  readonly protocol?: Partial<JournalProtocol>;
  readonly journal?: Partial<Omit<Journal, "protocol">>;
};

/** Opens a memory journal with a fault. */
export async function openBroken(fault: JournalFault): Promise<Journal> {
  const inner = memoryJournal();
  const { protocol = {}, journal = {} } = fault(inner);
  const broken = over(inner.protocol, protocol);
  return over(inner, { ...journal, protocol: broken });
}

/** A thing some of whose members are replaced. */
export function over<Thing extends object>(thing: Thing, replaced: Partial<Thing>): Thing {
  return new Proxy(thing, {
    get: (target, name) => {
      if (name in replaced) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const claimedInstead = (answer: ClaimAnswer, kind: ClaimAnswer["kind"]): ClaimAnswer =>
  answer.kind === kind ? { kind: "claimed", fence: 1 } : answer;

const isOpen = ({ state }: JournalEntry): boolean =>
  state === "prepared" || state === "dispatched" || state === "uncertain";

/** Changes what a journal is asked to claim. */
const asking =
  (change: (request: ClaimRequest) => ClaimRequest): JournalFault =>
  ({ protocol }) => ({ protocol: { claim: (request) => protocol.claim(change(request)) } });

/** Changes what a journal answers to claims. */
const answering =
  (change: (answer: ClaimAnswer, request: ClaimRequest) => ClaimAnswer): JournalFault =>
  ({ protocol }) => ({ protocol: { claim: async (request) => change(await protocol.claim(request), request) } });

/** Faults of claims. */
export const CLAIM_FAULTS: Readonly<Record<string, JournalFault>> = {
  "claims every intent as waiting first": () => {
    const seen = new Set<string>();
    return {
      protocol: {
        claim: async ({ claimId }) => {
          if (!seen.has(claimId)) return seen.add(claimId) && ({ kind: "waiting" } as const);
          return { kind: "claimed", fence: 1 };
        },
      },
    };
  },
  "forgets that keys exclude each other": asking((request) => ({ ...request, scopes: [] })),
  "claims the first key alone": asking((request) => ({ ...request, scopes: request.scopes.slice(0, 1) })),
  "takes keys of generations for one another": ({ protocol }) => ({
    protocol: {
      claim: (request) => protocol.claim({ ...request, scopes: request.scopes.map(({ key }) => ({ id: key, key })) }),
    },
  }),
  "gives fences that do not rise": answering((answer) =>
    answer.kind === "claimed" ? { ...answer, fence: 1 } : answer,
  ),
  "lets the last come first": ({ protocol }) => ({
    protocol: {
      claim: async (request) => {
        const answer = await protocol.claim(request);
        if (answer.kind !== "waiting") return answer;
        await protocol.withdraw({ ...request, receipt: {} as never });
        return answer;
      },
    },
  }),
  "lets two attempts at one id both win": answering((answer) => claimedInstead(answer, "inFlight")),
  "does not know an attempt that asks again": ({ protocol }) => {
    const asked = new Set<string>();
    return {
      protocol: {
        claim: async (request) => {
          const answer = await protocol.claim(request);
          const isAgain = asked.has(request.claimId);
          asked.add(request.claimId);
          return isAgain && answer.kind === "claimed" ? { kind: "inFlight" } : answer;
        },
      },
    };
  },
  "takes one intent for another": ({ protocol }) => {
    const hashes = new Map<string, string>();
    return {
      protocol: {
        claim: (request) => {
          const intentHash = hashes.get(request.operationId) ?? request.intentHash;
          hashes.set(request.operationId, intentHash);
          return protocol.claim({ ...request, intentHash });
        },
      },
    };
  },
  "runs what has ended again": answering((answer) => claimedInstead(answer, "final")),
  "runs what is uncertain again": answering((answer) => claimedInstead(answer, "uncertain")),
  "runs what was pruned again": answering((answer) => claimedInstead(answer, "forgotten")),
  "revives an attempt that was withdrawn": answering((answer) => claimedInstead(answer, "withdrawn")),
  "takes new keys for stored ones": answering((answer) => claimedInstead(answer, "rescoped")),
  "mends the texts of arguments": asking((request) => ({
    ...request,
    intentText: request.intentText.replaceAll("\\u0000", "").replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, "?"),
  })),
};

/** Faults of what is kept, and of how it is found. */
export const KEEPING_FAULTS: Readonly<Record<string, JournalFault>> = {
  "finds an entry that begins with the id": (inner) => ({
    journal: {
      find: async (operationId) => {
        const { entries } = await inner.listOpen({ limit: 1_000 });
        return (
          (await inner.find(operationId)) ??
          entries.find(({ intent }) => operationId.startsWith(intent.operationId.slice(0, 12)))
        );
      },
    },
  }),
  "lists from the first again": (inner) => ({
    journal: { listOpen: ({ limit }) => inner.listOpen({ limit }) },
  }),
  "lists in the order of writing, backwards": (inner) => ({
    journal: {
      listOpen: async (options) => {
        const page = await inner.listOpen(options);
        return { ...page, entries: [...page.entries].reverse() };
      },
    },
  }),
  "lists what has ended": (inner) => {
    const known = new Set<string>();
    return {
      protocol: {
        claim: (request) => {
          known.add(request.operationId);
          return inner.protocol.claim(request);
        },
      },
      journal: {
        listOpen: async (options) => {
          const page = await inner.listOpen(options);
          const all = await Promise.all([...known].map((id) => inner.find(id)));
          return {
            ...page,
            entries: [...page.entries, ...all.filter((entry) => entry !== undefined && !isOpen(entry))] as never,
          };
        },
      },
    };
  },
  "prunes nothing": () => ({ journal: { prune: async () => 0 } }),
  "prunes the young as well": (inner) => ({
    journal: { prune: () => inner.prune({ finalBefore: Number.MAX_SAFE_INTEGER }) },
  }),
  "prunes what is open": (inner) => ({
    journal: {
      prune: async (options) => {
        const { entries } = await inner.listOpen({ limit: 1_000 });
        for (const { intent, fence } of entries) {
          const receipt = { ...intent, status: "failed", result: null, code: "c", message: "m" } as never;
          await inner.protocol.finish({ operationId: intent.operationId, fence, receipt }).catch(() => undefined);
        }
        return inner.prune(options);
      },
    },
  }),
  "takes steps in another order": ({ protocol }) => ({
    protocol: {
      finish: async (request) => {
        for (let turn = 0; turn < 20; turn += 1) await undefined;
        return protocol.finish(request);
      },
    },
  }),
  "lets one failing step take others down": ({ protocol }) => {
    let fault: unknown;
    return {
      protocol: {
        finish: async (request) => {
          await protocol.finish(request).catch((error: unknown) => {
            fault = error;
          });
          for (let turn = 0; turn < 20; turn += 1) await undefined;
          if (fault !== undefined) throw fault;
          return { kind: "saved" };
        },
      },
    };
  },
  "answers when it is closed": (inner) => ({
    journal: { find: (operationId) => inner.find(operationId).catch(() => undefined) },
  }),
  "cannot be closed twice": (inner) => {
    let isClosed = false;
    return {
      journal: {
        close: async () => {
          if (isClosed) throw new Error("closed");
          isClosed = true;
          await inner.close();
        },
      },
    };
  },
};
