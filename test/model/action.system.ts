/**
 * One durable action of the real dispatcher on a memory journal, led along a path of its chart. What is seen
 * is the journal's entry, looked at after every step of the journal.
 */
import { simulatedClock } from "toolkernel/testing";
import type { GameActionIntent, GameActionReceipt } from "../../src/domain/action.ts";
import type { Journal, JournalEntry } from "../../src/domain/journal.ts";
import { withProtocol } from "../actions/rig.ts";
import { type ActionWay, FACT_OF_STATE, WAYS } from "./action.model.ts";
import type { ChartPath, Fact, PathStep } from "./chart-paths.ts";
import type { Seen } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import type { OpenSystem, PathSystem } from "./run-paths.ts";
import { endsSoon } from "./waiting.ts";

const ID = "subject";
const GRACE_MS = 1_000;
const WAIT_MS = 30_000;
/** Sets up a dispatcher for each path; see the file header. */
export function openAction(kernel: Kernel): OpenSystem {
  return async (path) => new ActionSystem(kernel, path);
}

interface HandlerCall {
  readonly intent: GameActionIntent;
  resolve(receipt: unknown): void;
  reject(error: unknown): void;
}

class ActionSystem implements PathSystem {
  readonly #kernel: Kernel;
  readonly #path: ChartPath;
  readonly #way: ActionWay;
  readonly #clock = simulatedClock();
  readonly #journal: Journal;
  readonly #dispatcher: InstanceType<Kernel["actions"]["GameActionDispatcher"]>;
  readonly #handling = new Map<string, HandlerCall>();
  readonly #answers: Promise<unknown>[] = [];
  readonly #seen: Seen[] = [{ fact: { type: "xstate.init" }, value: "new", context: {} }];
  #abort = new AbortController();
  #recovered: GameActionReceipt | undefined;
  #calls = 0;
  #fence = 0;
  #others = 0;

  constructor(kernel: Kernel, path: ChartPath) {
    this.#kernel = kernel;
    this.#path = path;
    this.#way = (path.model.input as { readonly way: ActionWay }).way;
    const { GameActionDispatcher, memoryJournal } = kernel.actions;
    const { clock } = this.#clock;
    this.#journal = withProtocol(memoryJournal({ clock }), (protocol) => {
      const watched =
        <Request, Answer>(step: (request: Request) => Promise<Answer>) =>
        async (request: Request): Promise<Answer> => {
          const answer = await step.call(protocol, request);
          await this.#look();
          return answer;
        };
      return {
        claim: watched(protocol.claim),
        finish: watched(protocol.finish),
        doubt: watched(protocol.doubt),
        abandon: watched(protocol.abandon),
        withdraw: watched(protocol.withdraw),
      };
    });
    this.#dispatcher = new GameActionDispatcher({
      journal: this.#journal,
      clock,
      conflictWaitTimeoutMs: WAIT_MS,
      handler: {
        execute: (intent) => this.#execute(intent as GameActionIntent),
        recover: async () => this.#recovered,
      },
    });
  }

  seen() {
    return this.#seen;
  }

  settle(): Promise<void> {
    return this.#clock.advance(0);
  }

  async stimulate({ type }: Fact): Promise<void> {
    switch (type) {
      case "QUEUED":
        await this.#holdScope();
        this.#dispatch(ID);
        break;
      case "CLAIMED":
        if (this.#state !== "prepared") this.#dispatch(ID);
        await this.#freeScope();
        break;
      case "ABANDONED":
        await this.#abandon();
        await this.#freeScope();
        break;
      case "LOST":
        await this.#lose();
        break;
      default:
        await this.#end(type as "COMMITTED" | "REJECTED" | "FAILED");
    }
  }

  async observe({ chart }: PathStep): Promise<void> {
    const entry = await this.#journal.find(ID);
    const state = entry?.state ?? "new";
    if (state !== chart.value) throw new Error(`ACT-2: the chart says ${String(chart.value)}, the entry is ${state}`);
    const hasReceipt = !["new", "prepared", "dispatched", "abandoned"].includes(state);
    if ((entry?.receipt?.status ?? "none") !== (hasReceipt ? state : "none"))
      throw new Error(`ACT-1: the receipt of a ${state} entry says ${entry?.receipt?.status ?? "nothing"}`);
    if ((entry?.fence ?? 0) < this.#fence) throw new Error("ACT-2: the fence has fallen");
    this.#fence = entry?.fence ?? 0;
  }

  async finish(): Promise<void> {
    const before = await this.#journal.find(ID);
    this.#abort.abort();
    for (const { intent, resolve } of [...this.#handling.values()]) resolve(this.#receipt("COMMITTED", intent));
    await this.#clock.advance(GRACE_MS);
    await endsSoon(Promise.all(this.#answers), () => this.settle());
    if (isFinal(before)) await this.#holdImmutable(before);
    if (this.#clock.pendingTimers() > 0) throw new Error("timers are left behind");
  }

  /** Holds a final entry to what it says, for good: nothing is executed again, nothing is overwritten. */
  async #holdImmutable(before: JournalEntry): Promise<void> {
    const calls = this.#calls;
    let disposition: string | undefined;
    const again = this.#dispatcher.dispatch(intentOf(ID)).then((answer) => {
      disposition = answer.disposition;
    });
    await endsSoon(again, () => this.settle());
    if (disposition !== "replayed" || this.#calls !== calls)
      throw new Error(`ACT-1: an ended operation was ${disposition}`);
    const after = await this.#journal.find(ID);
    if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error("ACT-2: a final receipt was changed");
  }

  get #state(): unknown {
    return this.#seen.at(-1)?.value;
  }

  async #look(): Promise<void> {
    const state = (await this.#journal.find(ID))?.state;
    if (state !== undefined && state !== this.#state)
      this.#seen.push({ fact: { type: FACT_OF_STATE[state] }, value: state, context: {} });
  }

  #dispatch(operationId: string): void {
    if (operationId === ID) this.#abort = new AbortController();
    const signal = operationId === ID ? this.#abort.signal : undefined;
    const answer = this.#dispatcher.dispatch(intentOf(operationId), { signal });
    answer.catch(() => undefined); // looked at in the end
    this.#answers.push(answer);
  }

  #execute(intent: GameActionIntent): Promise<never> {
    if (intent.operationId === ID) this.#calls += 1;
    return new Promise<never>((resolve, reject) => {
      this.#handling.set(intent.operationId, { intent, resolve: resolve as (receipt: unknown) => void, reject });
    });
  }

  async #holdScope(): Promise<void> {
    this.#others += 1;
    this.#dispatch(`other${this.#others}`);
    await this.settle();
  }

  async #freeScope(): Promise<void> {
    const other = this.#handling.get(`other${this.#others}`);
    other?.resolve(this.#receipt("COMMITTED", other.intent));
    await this.settle();
  }

  async #abandon(): Promise<void> {
    const ways = [
      async () => this.#abort.abort(),
      async () => void (await this.#dispatcher.abandon(ID)),
      () => this.#clock.advance(WAIT_MS),
    ];
    await ways[(this.#path.variant + WAYS.indexOf(this.#way)) % ways.length]?.();
    await this.settle();
  }

  async #lose(): Promise<void> {
    const call = this.#handling.get(ID);
    if (this.#way === "late") {
      // The handler is given up, and may still answer.
      this.#abort.abort();
      await this.#clock.advance(GRACE_MS);
    } else if (this.#way === "recover") {
      call?.reject(new Error("the connection broke"));
    } else {
      call?.resolve({ ...this.#receipt("COMMITTED", call.intent), operationId: "another" });
    }
  }

  async #end(type: "COMMITTED" | "REJECTED" | "FAILED"): Promise<void> {
    const call = this.#handling.get(ID);
    const receipt = this.#receipt(type, intentOf(ID));
    if (this.#state === "dispatched" || this.#way === "late") {
      call?.resolve(receipt);
    } else if (this.#way === "recover") {
      this.#recovered = receipt;
      await endsSoon(this.#dispatcher.reconcile(ID), () => this.settle());
    } else {
      await this.#dispatcher.resolve(ID, { status: receipt.status as "committed", evidence: { seenBy: "somebody" } });
    }
  }

  #receipt(type: "COMMITTED" | "REJECTED" | "FAILED", intent: GameActionIntent): GameActionReceipt {
    const { GameActionReceipt: receipts } = this.#kernel.actions;
    if (type === "COMMITTED") return receipts.committed(intent, "done");
    return type === "REJECTED" ? receipts.rejected(intent, "code", "no") : receipts.failed(intent, "code", "no");
  }
}

function isFinal(entry: JournalEntry | undefined): entry is JournalEntry {
  return entry !== undefined && ["committed", "rejected", "failed"].includes(entry.state);
}

function intentOf(operationId: string): GameActionIntent {
  return {
    operationId,
    action: "build",
    arguments: {},
    sessionId: "session",
    actorId: "actor",
    inputId: "input",
    moment: { timelineId: "main", tick: 7 },
    conflictKeys: ["plot"],
  };
}
