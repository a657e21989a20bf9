import {
  GameActionDispatcher,
  type GameActionHandler,
  type GameActionIntent,
  GameActionReceipt,
  GameActionTool,
  type Journal,
  memoryJournal,
} from "toolkernel";
import { simulatedClock } from "toolkernel/testing";
import { runOnce } from "./core-tools.ts";
import { type PublicCall, publicCall } from "./public-call.ts";

const handler: GameActionHandler = {
  execute: async (intent) => GameActionReceipt.committed(intent, null),
  recover: () => undefined,
};

function dispatcher(): GameActionDispatcher {
  return new GameActionDispatcher({ journal: memoryJournal(), handler, clock: simulatedClock().clock });
}

function input() {
  return { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "t", tick: 1 }, generationId: "g" };
}

function intent(): GameActionIntent {
  return {
    ...input(),
    operationId: "o",
    action: "take",
    arguments: { item: "x" },
    conflictKeys: ["shelf"],
    expectedRevision: 1,
  };
}

async function resolved(resolution: object): Promise<unknown> {
  const journal: Journal = memoryJournal();
  const lost: GameActionHandler = { execute: () => Promise.reject(new Error("lost")) };
  const own = new GameActionDispatcher({ journal, handler: lost, clock: simulatedClock().clock });
  await own.dispatch(intent());
  return own.resolve("o", resolution as never);
}

const OPTIONS = () => ({ signal: new AbortController().signal });

function unlessUnknown(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== "OPERATION_UNKNOWN") throw error;
}

/** Durable actions. */
export const DURABLE_CALLS: Readonly<Record<string, readonly PublicCall[]>> = {
  GameActionDispatcher: [
    publicCall(
      "new GameActionDispatcher",
      (): [object] => [
        {
          journal: memoryJournal(),
          handler: { ...handler },
          receiptCommitTimeoutMs: 5,
          conflictWaitTimeoutMs: 5,
          clock: simulatedClock().clock,
        },
      ],
      { of: (options) => new GameActionDispatcher(options as never), closed: ["0"] },
    ),
    publicCall("dispatcher.dispatch", (): [GameActionIntent, object] => [intent(), OPTIONS()], {
      of: (given, options) => dispatcher().dispatch(given, options),
      closed: ["1"],
    }),
    publicCall("dispatcher.reconcile", (): [string, object] => ["o", OPTIONS()], {
      of: (id, options) => dispatcher().reconcile(id, options).catch(unlessUnknown),
      closed: ["1"],
    }),
    publicCall(
      "dispatcher.resolve",
      (): [object] => [{ status: "committed", evidence: { seen: true }, result: {}, code: "c", message: "m" }],
      { of: resolved, closed: ["0"] },
    ),
    publicCall("dispatcher.resolve of an id", (): [string] => ["o"], {
      of: (id) => dispatcher().resolve(id, { status: "committed", evidence: 1 }).catch(unlessUnknown),
    }),
    publicCall("dispatcher.abandon", (): [string] => ["o"], { of: (id) => dispatcher().abandon(id) }),
  ],
  GameActionReceipt: [
    publicCall("GameActionReceipt.committed", (): [object, object, object] => [intent(), {}, { stateRevision: 1 }], {
      of: (given, result, options) => GameActionReceipt.committed(given as never, result, options),
    }),
    publicCall("GameActionReceipt.rejected", (): [object, string, string] => [intent(), "c", "m"], {
      of: (given, code, message) => GameActionReceipt.rejected(given as never, code, message),
    }),
    publicCall("GameActionReceipt.failed", (): [object, string, string] => [intent(), "c", "m"], {
      of: (given, code, message) => GameActionReceipt.failed(given as never, code, message),
    }),
  ],
  GameActionTool: [
    publicCall(
      "GameActionTool.create",
      (): [object] => [
        {
          input: input(),
          name: "take",
          description: "Takes.",
          inputSchema: { type: "object" },
          inputJsonSchema: { type: "object" },
          dispatcher: dispatcher(),
          conflictKey: () => "shelf",
          operationId: () => "o",
          expectedRevision: () => undefined,
          risk: "idempotentWrite",
          executionMode: "parallel",
          timeoutMs: 5_000,
          prepareArguments: (draft: unknown) => draft,
          validate: () => undefined,
          trackExactRepeats: true,
          modelReceiptProjector: () => ({}),
        },
      ],
      { of: (options) => GameActionTool.create(options as never), use: runOnce, closed: ["0"], shown: ["0.name"] },
    ),
  ],
};
