import {
  type ActionIdentity,
  type ActionMap,
  type AnyActions,
  type DurableAbandonment,
  type DurableCall,
  type DurableCallContext,
  type DurableToolContext,
  type DurableToolPort,
  type GameActionInput,
  type GameActionIntent,
  MAX_MODEL_RECEIPT_CHARACTERS,
  type ModelReceiptProjector,
} from "../domain/action.ts";
import type { DeclaredResult } from "../domain/content.ts";
import { KernelError } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { nameFault } from "../domain/names.ts";
import { ignoreRejection } from "../domain/promise-like.ts";
import type { ArgumentsOf, InputSchema, JsonSchemaObject } from "../domain/schema.ts";
import type { ConflictKeyContext, ConflictKeys, ExecutionMode, Tool, ToolContext, ToolRisk } from "../domain/tool.ts";
import { checkToolOptions } from "./action-options.ts";
import { detailsWithoutReceipt } from "./canonical-receipt.ts";
import type { GameActionDispatcher } from "./dispatcher.ts";
import { resultOfDispatched, resultOfError } from "./durable-results.ts";
import { executeCall } from "./execute-call.ts";
import { checkInput } from "./intent.ts";
import { defaultOperationId } from "./operation-id.ts";
import { uncertainReceipt } from "./receipt.ts";

/** What {@link GameActionTool.create} takes. */
export interface GameActionToolOptions<
  Name extends string,
  Schema extends InputSchema,
  Actions extends ActionMap<Actions>,
> {
  /**
   * The player's input the calls belong to, or a function that gives it. An object belongs to the first
   * run that uses it (ACT-8). *Contract* of the function: the same input for the same call, also after a
   * restart; a throw refuses the call. It is asked once a call, while the call is prepared.
   */
  readonly input: GameActionInput | ((context: DurableCallContext) => GameActionInput);
  /** The tool's name, and the action's. */
  readonly name: Name;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly inputJsonSchema?: JsonSchemaObject | undefined;
  readonly dispatcher: GameActionDispatcher<Actions>;
  /** Names of what the action touches: lanes of the session, and conflict scopes of the journal (ACT-4). */
  readonly conflictKey?: ((args: ArgumentsOf<Schema>, context: ConflictKeyContext) => ConflictKeys) | undefined;
  /**
   * *Contract*: the same id for the same call, another for every other; default ACT-8's. A throw refuses the
   * call. It is asked once a call, while the call is prepared.
   */
  readonly operationId?: ((context: DurableCallContext) => string) | undefined;
  /** The state the action is decided on, asked just before the intent is written (ACT-9). A throw refuses the call. */
  readonly expectedRevision?:
    | ((args: ArgumentsOf<Schema>, context: ToolContext) => number | undefined | Promise<number | undefined>)
    | undefined;
  readonly risk?: ToolRisk | undefined;
  readonly executionMode?: ExecutionMode | undefined;
  readonly timeoutMs?: number | undefined;
  readonly prepareArguments?: ((draft: JsonValue) => JsonValue | undefined) | undefined;
  readonly validate?: ((args: ArgumentsOf<Schema>) => string | undefined) | undefined;
  readonly trackExactRepeats?: boolean | undefined;
  /** What the model sees of receipts in place of the canonical JSON (PROJ-2). */
  readonly modelReceiptProjector?: ModelReceiptProjector<Actions> | undefined;
}

/** A tool whose calls are durable actions. */
export interface GameActionTool<Name extends string = string, Args = JsonObject>
  extends Tool<Name, Args, DeclaredResult> {
  readonly execute: (args: Args, context: ToolContext) => Promise<DeclaredResult>;
  readonly durable: DurableToolPort;
}

/** Maker of tools whose calls are durable actions: one world write and one receipt each, whatever crashes. */
export const GameActionTool = Object.freeze({
  /** The bound of a projection in UTF-16 units; exactly so many are allowed (PROJ-3). */
  maximumModelReceiptCharacters: MAX_MODEL_RECEIPT_CHARACTERS,

  /**
   * Makes a durable tool. Its calls are dispatched by `dispatcher`; its results carry the canonical
   * receipt JSON in `details`, and show it to the model unless a projector says what the model sees.
   * @throws KernelError `INVALID_OPTIONS` naming the option.
   */
  create<const Name extends string, const Schema extends InputSchema, Actions extends ActionMap<Actions> = AnyActions>(
    options: GameActionToolOptions<Name, Schema, Actions>,
  ): GameActionTool<Name, ArgumentsOf<Schema>> {
    checkToolOptions(options);
    const { input, operationId, expectedRevision, modelReceiptProjector, dispatcher, ...definition } = options;
    if (typeof input !== "function") checkInput(input);
    const calls = new DurableCalls(options);
    const recover = dispatcher.canRecover
      ? { recover: (args: ArgumentsOf<Schema>, context: ToolContext) => calls.recover(args, context) }
      : {};
    return Object.freeze({
      ...definition,
      execute: (args: ArgumentsOf<Schema>, context: ToolContext) => calls.execute(args, context),
      ...recover,
      durable: calls,
    });
  },
});

/**
 * The calls of one durable tool, and what the kernel asks about them.
 * Owns: nothing; the dispatcher knows what is at work. Upholds: ACT-3, ACT-8, ACT-9, CAN-2, PROJ-1.
 */
class DurableCalls<Schema extends InputSchema, Actions extends ActionMap<Actions>> implements DurableToolPort {
  readonly projector?: ModelReceiptProjector;
  readonly #options: GameActionToolOptions<string, Schema, Actions>;

  constructor(options: GameActionToolOptions<string, Schema, Actions>) {
    this.#options = options;
    const { modelReceiptProjector } = options;
    // The projector narrows on the action's name; intents of this tool have that of its own action.
    if (modelReceiptProjector !== undefined) this.projector = modelReceiptProjector as unknown as ModelReceiptProjector;
  }

  get receiptCommitTimeoutMs(): number {
    return this.#options.dispatcher.receiptCommitTimeoutMs;
  }

  bindRun(runId: string): void {
    const { input, dispatcher } = this.#options;
    if (typeof input !== "function") dispatcher.bindInput(input, runId);
  }

  identify(context: DurableCallContext): ActionIdentity {
    const input = this.#inputOf(context);
    return Object.freeze({ operationId: this.#operationIdOf(context, input), input });
  }

  isSavingReceipt(operationId: string): boolean {
    return this.#options.dispatcher.isSavingReceipt(operationId);
  }

  abandon(call: DurableCall): DurableAbandonment {
    const { dispatcher } = this.#options;
    const subject = this.#intentOf(call);
    const intent = dispatcher.liveIntent(subject.operationId) ?? subject;
    void dispatcher.abandonCall(intent.operationId);
    const receipt = uncertainReceipt(intent, "no_answer");
    const details = detailsWithoutReceipt(intent, { code: receipt.status, message: receipt.message });
    return { outcome: { intent, receipt }, details };
  }

  async resolve(
    operationId: string,
    { status, details = null }: { readonly status: "committed" | "failed"; readonly details?: JsonValue | undefined },
  ): Promise<void> {
    await this.#options.dispatcher.resolve(operationId, { status, evidence: details });
  }

  /** The executor of the tool; never throws. */
  async execute(args: ArgumentsOf<Schema>, context: ToolContext): Promise<DeclaredResult> {
    const { dispatcher, expectedRevision } = this.#options;
    try {
      this.bindRun(context.runId);
      const intent = this.#intentOf(this.#callOf(args, context));
      return await executeCall({ dispatcher, intent, context, askRevision: () => expectedRevision?.(args, context) });
    } catch (error) {
      return resultOfError(error, undefined);
    }
  }

  /** Asks what became of a call whose outcome is unknown (UNC-7); undefined: still unknown. */
  async recover(args: ArgumentsOf<Schema>, context: ToolContext): Promise<DeclaredResult | undefined> {
    const { operationId } = this.#callOf(args, context).identity;
    const reconciled = await this.#options.dispatcher.reconcileCall(operationId, context.signal);
    const timings = { totalMs: 0, hostMs: 0, frameworkMs: 0 };
    return reconciled && resultOfDispatched({ ...reconciled, timings });
  }

  #intentOf({ identity, arguments: args, conflictKeys }: DurableCall): GameActionIntent {
    const { operationId, input } = identity;
    return { operationId, action: this.#options.name, arguments: args, ...input, conflictKeys };
  }

  /** The call of a context; which action it is the kernel has asked already, and whoever else calls has not. */
  #callOf(args: unknown, context: ToolContext): DurableCall {
    const { callIndex, turn, host, runId, conflictKeys } = context;
    const call = { callIndex, turn, arguments: args as JsonObject, host, runId, conflictKeys }; // prepared arguments are JSON objects
    const { identity = this.identify(call) } = context as DurableToolContext; // what the kernel adds for durable tools
    return { ...call, identity };
  }

  #inputOf(context: DurableCallContext): GameActionInput {
    const { input } = this.#options;
    if (typeof input !== "function") return checkInput(input);
    return checkInput(ask("input", () => input(context)));
  }

  #operationIdOf(context: DurableCallContext, input: GameActionInput): string {
    const { operationId, name } = this.#options;
    const { turn, callIndex } = context;
    if (operationId === undefined) return defaultOperationId({ input, turn, callIndex, action: name });
    const id = ask("operationId", () => operationId(context));
    const fault = nameFault(id);
    if (fault !== undefined) throw invalid("operationId", `a function whose answer can be an id; this one ${fault}`);
    return id;
  }
}

/** Calls a function of the host; what it throws is not passed on, since it may hold anything. */
function ask<Answer>(option: string, question: () => Answer): Answer {
  try {
    const answer = question();
    ignoreRejection(answer); // a promise is no answer here, and nobody else looks at it
    return answer;
  } catch (error) {
    throw new KernelError("INVALID_OPTIONS", `The function ${option} of a GameActionTool threw.`, {
      subject: option,
      cause: error,
    });
  }
}

function invalid(option: string, wanted: string): KernelError {
  return new KernelError("INVALID_OPTIONS", `GameActionTool needs ${option} to be ${wanted}.`, { subject: option });
}
