/**
 * A session in the AI SDK's own loop.
 * Owns: the response whose calls are being executed, what the kernel has said between steps, whether the
 * loop is over. Does not own: how a batch runs (the session), the loop itself (the AI SDK). Invariants:
 * one batch a response, started by its first `execute` once the response is whole; no timers.
 */

import { type AnyTool, type Batch, type BatchResult, type DraftResponse, KernelError } from "toolkernel";
import { checkGiven, mustHaveMethods, type OptionCheck, readGiven } from "../../domain/check-options.ts";
import { policyTextsOf } from "../wire/batch-messages.ts";
import { type AiSdkKernelTool, presentTool, showResult } from "./kernel-tools.ts";
import { insertNotes, type PolicyNote } from "./policy-notes.ts";
import { recordingModel } from "./recording-model.ts";
import type { ResponseRecord } from "./response-record.ts";

/** What {@link toAiSdk} needs of a session. */
export interface AiSdkSession {
  readonly tools: readonly AnyTool[];
  execute(
    response: DraftResponse,
    options: { readonly signal?: AbortSignal | undefined; readonly blockOthers?: boolean },
  ): Pick<Batch, "result">;
}

/** What goes into `generateText` and `streamText`. */
export interface AiSdkKernel {
  /** The model, its responses recorded as they go by. */
  model<Model extends object>(model: Model): Model;
  /** The session's tools, executed through it. */
  readonly tools: Record<string, AiSdkKernelTool>;
  /** Puts the kernel's own words into the next request, after the results they belong to. */
  prepareStep<Message>(options: { readonly messages: Message[] }): Promise<{ messages?: Message[] }>;
  /** Whether a batch has closed the loop (RUN-2). */
  stopWhen(options?: object): Promise<boolean>;
}

/**
 * Lets the AI SDK's `generateText` and `streamText` execute tools through a session: give them
 * `model(m)`, `tools`, `prepareStep` and `stopWhen` of it. One of it serves one run: one generation after
 * another, never two at once. Beside tools of the host's own, which stay the host's, put
 * `stepCountIs(n)` beside `stopWhen` to bound the steps.
 *
 * - All calls of a response are one batch: the first `execute` starts it when the response is whole, each
 *   gives its own result, in source order. After a cut response none runs (PREP-10).
 * - A result that is an error is thrown, so that the AI SDK makes it a `tool-error`; any other is its text,
 *   its JSON value, or, with bytes in it, a `content` output.
 * - The abort signal of the generation cancels the batch.
 * - The tools are the session's when this is called: after `setTools` make it anew.
 * - An `ask` (APP-1) is refused, since nobody can answer within a step; decide in `authorizeToolCall`.
 *
 * @throws KernelError `INVALID_OPTIONS` for anything but a session, and from `model` for anything but a language model
 */
export function toAiSdk(session: AiSdkSession): AiSdkKernel {
  checkGiven(session, "session", mustBeSession);
  const loop = new KernelLoop(session);
  const names = new Set(readGiven("session.tools", () => session.tools.map((tool) => tool.name)));
  return {
    model: (model) =>
      recordingModel(model, { hasTool: (name) => names.has(name), onResponse: (record) => loop.begin(record) }),
    tools: presentTools(session.tools, loop),
    prepareStep: async ({ messages }) => {
      await loop.settle();
      return loop.notes.length === 0 ? {} : { messages: insertNotes(messages, loop.notes) };
    },
    stopWhen: async () => {
      await loop.settle();
      return loop.isClosed;
    },
  };
}

const mustBeSession: OptionCheck = (value) => {
  const { tools } = (value ?? {}) as Partial<AiSdkSession>; // looked at, not trusted
  return mustHaveMethods("execute")(value) ?? (Array.isArray(tools) ? undefined : "must have an array of tools");
};

function presentTools(tools: readonly AnyTool[], loop: KernelLoop): AiSdkKernel["tools"] {
  const present = (tool: AnyTool): [string, AiSdkKernelTool] => [
    tool.name,
    presentTool(tool, (callId, signal) => loop.execute(callId, signal)),
  ];
  return readGiven("session.tools", () => Object.fromEntries(tools.map(present)));
}

/** See the file header. */
class KernelLoop {
  readonly notes: PolicyNote[] = [];
  isClosed = false;
  readonly #session: AiSdkSession;
  #record: ResponseRecord | undefined;
  #batch: Promise<BatchResult> | undefined;

  constructor(session: AiSdkSession) {
    this.#session = session;
  }

  begin(record: ResponseRecord): void {
    this.#record = record;
    this.#batch = undefined;
    this.isClosed = false;
  }

  /** The result of one call of the response at hand. */
  async execute(callId: string, signal: AbortSignal | undefined): Promise<unknown> {
    const record = this.#record;
    const index = record?.take(callId);
    if (record === undefined || index === undefined) {
      const message =
        "A tool was executed for a call that no recorded response holds. Give generateText or streamText the model that toAiSdk(session).model returns.";
      throw new KernelError("INVALID_OPTIONS", message, { subject: "model" });
    }
    const { messages } = await this.#run(record, signal);
    const result = messages[index];
    if (result?.role !== "toolResult") {
      throw new KernelError("KERNEL_STUCK", "A batch ended without a result for one of its calls.");
    }
    return showResult(result);
  }

  /**
   * The AI SDK refuses a call of an unknown tool by itself and executes nothing; the kernel still has to
   * see it, since a model that repeats it is in a loop like any other (REP-3).
   */
  async settle(): Promise<void> {
    const record = this.#record;
    if (record?.isWhole === true && record.callIds.length > 0) {
      await this.#run(record, undefined);
    }
  }

  #run(record: ResponseRecord, signal: AbortSignal | undefined): Promise<BatchResult> {
    this.#batch ??= this.#runBatch(record, signal);
    return this.#batch;
  }

  async #runBatch(record: ResponseRecord, signal: AbortSignal | undefined): Promise<BatchResult> {
    const draft = await record.whole;
    let result = await this.#session.execute(draft, { signal }).result;
    if (result.approvals !== undefined) {
      result = await this.#session.execute(draft, { signal, blockOthers: true }).result;
    }
    const callIds = record.callIds;
    this.notes.push(...policyTextsOf(result).map((text) => ({ callIds, text })));
    this.isClosed = result.closed;
    return result;
  }
}
