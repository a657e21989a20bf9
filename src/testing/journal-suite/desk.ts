import { strict as assert } from "node:assert";
import { createHash, randomBytes } from "node:crypto";
import type {
  ClaimAnswer,
  ClaimRequest,
  GameActionIntent,
  GameActionReceipt,
  Journal,
  JournalState,
  JsonObject,
  JsonValue,
} from "toolkernel";

/** One test of a conformance suite, for any test runner. */
export interface SuiteCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** A case that works on one open journal. */
export interface DeskCase {
  readonly name: string;
  readonly run: (desk: Desk) => Promise<void>;
}

/** What a case may say of an intent; the rest is made up. */
export interface IntentWish {
  readonly operationId?: string;
  readonly keys?: readonly string[];
  readonly arguments?: JsonObject;
  readonly generationId?: string;
}

/** A claim that was asked for, to continue. */
export interface Asked {
  readonly request: ClaimRequest;
  readonly intent: GameActionIntent;
  readonly answer: ClaimAnswer;
}

/**
 * What a case works at: one journal, and names that no other case has, since stores may be shared.
 * Owns: nothing but the name.
 */
export class Desk {
  readonly journal: Journal;
  readonly #name = randomBytes(6).toString("hex");
  #operations = 0;

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** An operation id or key that only this case uses. */
  name(text: string): string {
    return `${this.#name}-${text}`;
  }

  /** A claim request for a new intent. */
  request(wish: IntentWish = {}): { readonly request: ClaimRequest; readonly intent: GameActionIntent } {
    this.#operations += 1;
    const intent: GameActionIntent = {
      operationId: wish.operationId ?? this.name(`operation-${String(this.#operations).padStart(4, "0")}`),
      action: "build",
      arguments: wish.arguments ?? { plot: 1 },
      sessionId: "session",
      actorId: "actor",
      inputId: "input",
      moment: { timelineId: "main", tick: 7 },
      ...(wish.generationId !== undefined && { generationId: wish.generationId }),
      conflictKeys: [...(wish.keys ?? [])].map((key) => this.name(key)).sort(),
    };
    return { intent, request: requestFor(this.journal, intent) };
  }

  /** Asks for a claim. */
  async ask(wish: IntentWish = {}): Promise<Asked> {
    const { request, intent } = this.request(wish);
    return { request, intent, answer: await this.journal.protocol.claim(request) };
  }

  /** Claims, and returns the fence; fails when the claim has to wait. */
  async claim(wish: IntentWish = {}): Promise<Asked & { readonly fence: number }> {
    const asked = await this.ask(wish);
    return { ...asked, fence: fenceOf(asked.answer) };
  }

  /** Asks again for what was asked before, by the same attempt. */
  again({ request }: Pick<Asked, "request">): Promise<ClaimAnswer> {
    return this.journal.protocol.claim(request);
  }

  /** Asks for the same intent by a new attempt. */
  anew({ request }: Pick<Asked, "request">): Promise<ClaimAnswer> {
    return this.journal.protocol.claim({ ...request, claimId: this.journal.protocol.newClaimId() });
  }

  /** Claims an operation and leaves it uncertain. */
  async uncertain(wish: IntentWish = {}): Promise<Asked & { readonly fence: number }> {
    const asked = await this.claim(wish);
    const receipt = uncertainOf(asked.intent);
    assert.equal(
      await this.journal.protocol.doubt({ operationId: asked.intent.operationId, fence: asked.fence, receipt }),
      true,
    );
    return asked;
  }

  /** The state an operation is in. */
  async state(operationId: string): Promise<JournalState | undefined> {
    return (await this.journal.find(operationId))?.state;
  }
}

/** The request that claims an intent. */
export function requestFor(journal: Journal, intent: GameActionIntent): ClaimRequest {
  const { operationId, conflictKeys, moment, generationId = "" } = intent;
  const scopes = conflictKeys.map((key) => ({ id: hash([key, moment.timelineId, generationId]), key }));
  return {
    operationId,
    claimId: journal.protocol.newClaimId(),
    intentHash: hash([intent.action, JSON.stringify(intent.arguments), generationId]),
    intentText: JSON.stringify(intent),
    scopes: scopes.sort((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

/** The fence of a claim that was won. */
export function fenceOf(answer: ClaimAnswer): number {
  if (answer.kind !== "claimed") assert.fail(`the claim was answered ${answer.kind}`);
  assert.ok(Number.isSafeInteger(answer.fence) && answer.fence > 0, "a fence is a positive safe integer");
  return answer.fence;
}

/** A committed receipt. */
export function committed(intent: GameActionIntent, result: JsonValue = null): GameActionReceipt {
  return { operationId: intent.operationId, moment: intent.moment, status: "committed", result };
}

/** A receipt of an operation that did not happen. */
export function refused(intent: GameActionIntent, status: "rejected" | "failed" = "failed"): GameActionReceipt {
  return {
    operationId: intent.operationId,
    moment: intent.moment,
    status,
    result: null,
    code: "no",
    message: "It did not happen.",
  };
}

/** A receipt of an operation whose outcome is not known. */
export function uncertainOf(intent: GameActionIntent): GameActionReceipt {
  return { ...refused(intent), status: "uncertain", result: null, code: "no_answer", message: "Nobody knows." };
}

/** Fails unless the promise rejects with a `KernelError` of this code. */
export async function rejectsWith(code: string, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof Error, "an error is thrown");
    assert.equal((error as { readonly code?: unknown }).code, code);
    return true;
  });
}

function hash(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
