import { GameActionDispatcher, type GameActionDispatcherOptions } from "../../src/actions/dispatcher.ts";
import { type CheckedIntent, checkIntent } from "../../src/actions/intent.ts";
import { GameActionReceipt } from "../../src/actions/receipt.ts";
import type {
  ActionContext,
  GameActionHandler,
  GameActionIntent,
  GameActionReceipt as Receipt,
} from "../../src/domain/action.ts";
import type { Journal, JournalProtocol } from "../../src/domain/journal.ts";
import { memoryJournal } from "../../src/journal/memory.ts";
import { trackedClock } from "../support/tracked.ts";

/** One call of the handler, ended by the test. */
export interface HandlerCall {
  readonly intent: GameActionIntent;
  readonly context: ActionContext;
  commit(result?: unknown, stateRevision?: number): void;
  answer(value: unknown): void;
  fail(error: unknown): void;
}

/** A dispatcher on a memory journal and a simulated clock, with a handler in the test's hands. */
export interface Rig {
  readonly dispatcher: GameActionDispatcher;
  readonly journal: Journal;
  readonly calls: HandlerCall[];
  readonly clock: ReturnType<typeof trackedClock>["clock"];
  advance(ms: number): Promise<void>;
  /** Lets everything that promises alone can reach happen. */
  settle(): Promise<void>;
}

/** What a rig may be made with. */
export interface RigOptions {
  readonly recover?: GameActionHandler["recover"];
  /** Answers at once in place of waiting for the test. */
  readonly execute?: (intent: GameActionIntent, context: ActionContext) => unknown;
  readonly journal?: (journal: Journal) => Journal;
  readonly options?: Partial<GameActionDispatcherOptions>;
}

/** Makes a rig. */
export function makeRig(wish: RigOptions = {}): Rig {
  const simulated = trackedClock();
  const memory = memoryJournal({ clock: simulated.clock });
  const journal = wish.journal?.(memory) ?? memory;
  const calls: HandlerCall[] = [];
  const execute = (intent: GameActionIntent, context: ActionContext): Promise<Receipt> =>
    new Promise((resolve, reject) => {
      const call: HandlerCall = {
        intent,
        context,
        commit: (result = null, stateRevision) =>
          resolve(GameActionReceipt.committed(intent, result as never, { stateRevision })),
        answer: (value) => resolve(value as Receipt),
        fail: reject,
      };
      calls.push(call);
      if (wish.execute !== undefined) {
        try {
          resolve(wish.execute(intent, context) as Receipt);
        } catch (error) {
          reject(error);
        }
      }
    });
  const handler = { execute, ...(wish.recover !== undefined && { recover: wish.recover }) };
  const dispatcher = new GameActionDispatcher({ journal, handler, clock: simulated.clock, ...wish.options });
  return {
    dispatcher,
    journal,
    calls,
    clock: simulated.clock,
    advance: (ms) => simulated.advance(ms),
    settle: () => simulated.advance(0),
  };
}

/** A rig whose operation "a" is uncertain. */
export async function uncertainRig(
  recover?: GameActionHandler["recover"],
  replace?: (protocol: JournalProtocol) => Partial<JournalProtocol>,
): Promise<Rig> {
  const rig = makeRig({
    ...(replace !== undefined && { journal: (journal) => withProtocol(journal, replace) }),
    ...(recover !== undefined && { recover }),
    execute: (intent) => {
      if (rig.calls.length === 1) throw new Error("lost");
      return GameActionReceipt.committed(intent, null);
    },
  });
  await rig.dispatcher.dispatch(intentOf("a", { conflictKeys: ["k"] }));
  return rig;
}

/** An intent of this id; whatever else it says is the same for all. */
export function intentOf(operationId: string, more: Partial<GameActionIntent> = {}): GameActionIntent {
  return {
    operationId,
    action: "build",
    arguments: { plot: 1 },
    sessionId: "session",
    actorId: "actor",
    inputId: "input",
    moment: { timelineId: "main", tick: 7 },
    conflictKeys: [],
    ...more,
  };
}

/** The intent as it is checked before anything is written. */
export function checked(operationId: string, more: Partial<GameActionIntent> = {}): CheckedIntent {
  return checkIntent(intentOf(operationId, more));
}

/** A journal whose protocol steps a test can replace. */
export function withProtocol(
  journal: Journal,
  replace: (protocol: JournalProtocol) => Partial<JournalProtocol>,
): Journal {
  const replaced = replace(journal.protocol);
  const protocol = new Proxy(journal.protocol, {
    get: (target, name) => {
      const value = Reflect.get(replaced, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(name in replaced ? replaced : target) : value;
    },
  });
  return new Proxy(journal, {
    get: (target, name) => {
      if (name === "protocol") return protocol;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A promise that the test resolves. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Makes a gate, closed. */
export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
