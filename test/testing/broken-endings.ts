/** Journals that end operations wrongly, each in one way. */
import type { FinishRequest } from "toolkernel";
import type { JournalFault } from "./broken-journals.ts";

/** Changes the receipts that a journal is given. */
const saving =
  (change: (request: FinishRequest) => FinishRequest): JournalFault =>
  ({ protocol }) => ({ protocol: { finish: (request) => protocol.finish(change(request)) } });

/** Faults of endings. */
export const ENDING_FAULTS: Readonly<Record<string, JournalFault>> = {
  "lets a second ending pass": ({ protocol }) => ({
    protocol: { finish: (request) => protocol.finish(request).catch(() => ({ kind: "saved" }) as const) },
  }),
  "refuses an equal ending": ({ protocol }) => {
    const ended = new Set<string>();
    return {
      protocol: {
        finish: async (request) => {
          if (ended.has(request.operationId)) throw Object.assign(new Error("no"), { code: "RECEIPT_IMMUTABLE" });
          const answer = await protocol.finish(request);
          ended.add(request.operationId);
          return answer;
        },
      },
    };
  },
  "rounds numbers in receipts": saving((request) => ({
    ...request,
    receipt: JSON.parse(JSON.stringify(request.receipt), (_key, value: unknown) =>
      typeof value === "number" ? Math.round(value) : value,
    ) as FinishRequest["receipt"],
  })),
  "takes receipts of others": saving((request) => ({
    ...request,
    receipt: { ...request.receipt, operationId: request.operationId },
  })),
  "takes receipts under any fence": ({ protocol, find }) => ({
    protocol: {
      finish: async (request) =>
        protocol.finish({ ...request, fence: (await find(request.operationId))?.fence ?? request.fence }),
    },
  }),
  "doubts under any fence": (inner) => ({
    protocol: {
      doubt: async (request) =>
        inner.protocol.doubt({ ...request, fence: (await inner.find(request.operationId))?.fence ?? request.fence }),
    },
  }),
  "says that it doubts, twice": ({ protocol }) => ({
    protocol: { doubt: async (request) => (await protocol.doubt(request)) || true },
  }),
  "ends what is in doubt": ({ protocol }) => ({
    protocol: {
      doubt: async ({ receipt, ...rest }) =>
        (await protocol.finish({ ...rest, receipt: { ...receipt, status: "failed" } as never })).kind === "saved",
    },
  }),
  "keeps the fence of a take-over": ({ protocol }) => ({
    protocol: {
      takeOver: async (request) => {
        const answer = await protocol.takeOver(request);
        if (answer.kind !== "taken") return answer;
        return { ...answer, entry: { ...answer.entry, fence: answer.entry.fence - 1 } };
      },
    },
  }),
  "lets two reconcilers in": ({ protocol }) => ({
    protocol: { takeOver: (request) => protocol.takeOver({ ...request, by: "person" }) },
  }),
  "keeps persons out while a reconciler is at it": ({ protocol }) => ({
    protocol: { takeOver: (request) => protocol.takeOver({ ...request, by: "reconciler" }) },
  }),
  "takes over what is not uncertain": ({ protocol }) => ({
    protocol: {
      takeOver: async (request) => {
        const answer = await protocol.takeOver(request);
        return answer.kind === "settled" ? { ...answer, kind: "taken" } : answer;
      },
    },
  }),
  "loses late receipts": () => ({ protocol: { listEvidence: async () => [] } }),
  "keeps what an overtaken person said as a late receipt": ({ protocol }) => ({
    protocol: {
      listEvidence: async (operationId) =>
        (await protocol.listEvidence(operationId)).map((each) =>
          each.kind === "lateResolution" ? { ...each, kind: "lateReceipt" } : each,
        ),
    },
  }),
  "leaves a withdrawn entry as it is": () => ({ protocol: { withdraw: async () => "nothing" } }),
  "abandons without saying so": ({ protocol }) => ({
    protocol: { abandon: async (operationId) => !(await protocol.abandon(operationId)) },
  }),
  "tells nobody what became free": () => ({ protocol: { onReleased: () => () => undefined } }),
  "takes the living for dead": (inner) => ({
    protocol: {
      sweep: async () => {
        const { entries } = await inner.listOpen({ limit: 1_000 });
        for (const { intent, fence, state } of entries) {
          const receipt = { ...intent, status: "uncertain", result: null, code: "c", message: "m" } as never;
          if (state === "dispatched") await inner.protocol.doubt({ operationId: intent.operationId, fence, receipt });
        }
        return { uncertain: entries.length, abandoned: 0 };
      },
    },
  }),
};
