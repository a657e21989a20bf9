/**
 * The tools and hooks of a session whose third call is led along a path of its chart: each looks at the path
 * to see what it should do.
 * Owns: what waits for the path, the signal. Does not own: the session.
 */
import type { AuthorizeDecision, RewriteDecision, SessionHooks } from "toolkernel";
import type { ChartPath } from "./chart-paths.ts";
import { valueName } from "./chart-paths.ts";
import type { Seen } from "./chart-watch.ts";
import type { Kernel } from "./kernel.ts";
import { type CallInput, TOOL_TIMEOUT_MS } from "./tool-call.model.ts";
import { Waiting } from "./waiting.ts";

/** What can wait for the path. */
export type WaitName =
  | "policy"
  | "refinement"
  | "authorization"
  | "answer"
  | "recovery"
  | "shaping"
  | "barrier"
  | "holder"
  | "foreign";

/** See the file header. */
export class CallHost {
  readonly waiting = new Waiting<WaitName>();
  readonly abort = new AbortController();
  readonly input: CallInput;
  readonly #kernel: Kernel;
  readonly #path: ChartPath;
  readonly #seen: () => readonly Seen[];

  /** `seen`: what the call's chart has shown so far. */
  constructor(kernel: Kernel, path: ChartPath, seen: () => readonly Seen[]) {
    this.#kernel = kernel;
    this.#path = path;
    this.#seen = seen;
    this.input = path.model.input as CallInput; // the models are given no other
  }

  /**
   * Whether an uncertain write is to block the call while its dispatch is being recorded. That write has no
   * key then, and another session lets the call in while the store is still busy with the write's end.
   */
  get isBlockedLate(): boolean {
    return this.tells("ADMITTED") && this.tells("BLOCKED");
  }

  /** Whether a person is asked about the call. */
  get #asks(): boolean {
    return this.tells("ASKED");
  }

  /** Whether the path tells a fact. */
  tells(type: string): boolean {
    return this.#path.steps.some(({ fact }) => fact.type === type);
  }

  /** Where the call is, by its chart. */
  get state(): string {
    return valueName(this.#seen().at(-1)?.value ?? "");
  }

  /** The next fact of the path. */
  #next(): string | undefined {
    return this.#path.steps[this.#seen().length - 1]?.fact.type;
  }

  /** A tool that waits for the path and does nothing else. */
  companion(name: WaitName | "follower", options: object = {}) {
    return this.#kernel.core.defineTool({
      name,
      description: name,
      inputSchema: { type: "object" },
      trackExactRepeats: false,
      ...options,
      execute: () => this.waiting.begin(name === "follower" ? "barrier" : name),
    });
  }

  /** The tools of the session, that of the call in question among them. */
  get tools() {
    const { defineTool } = this.#kernel.core;
    const { isWrite, throwIsUncertain, canRecover } = this.input;
    const validate = (): Promise<never> => this.waiting.begin("refinement");
    const subject = defineTool({
      name: "subject",
      description: "The call in question.",
      inputSchema: { "~standard": { version: 1, vendor: "test", validate } },
      inputJsonSchema: { type: "object" },
      risk: isWrite ? "idempotentWrite" : "readOnly",
      timeoutMs: TOOL_TIMEOUT_MS,
      throwMeans: throwIsUncertain ? "uncertain" : "failed",
      prepareArguments: () => this.#shape(),
      conflictKey: () => this.#giveKey(),
      execute: () => this.waiting.begin("answer"),
      ...(canRecover && { recover: () => this.waiting.begin("recovery") }),
    });
    return [
      this.companion("barrier", { executionMode: "sequential" }),
      this.companion("holder", this.isBlockedLate ? {} : { conflictKey: () => "k" }),
      subject,
      this.companion("follower", { executionMode: "sequential" }),
    ];
  }

  /** The hooks of the session. */
  get hooks(): SessionHooks {
    return {
      rewriteToolCall: ({ call }) => this.#decidePolicy(call.id),
      authorizeToolCall: ({ call }) => this.#decideAuthorization(call.id),
      afterToolCall: ({ call }) => (call.id === "subject" ? this.waiting.begin("shaping") : undefined),
    };
  }

  #shape(): undefined {
    if (this.#next() === "REFUSED") throw new Error("no shape");
    if (this.#next() === "CANCEL") this.abort.abort();
    return undefined;
  }

  /** What the schema says of the arguments. */
  checkSchema(): readonly { pointer: string; message: string }[] {
    if (this.state !== "preparing.validating") return [];
    if (this.#next() === "CANCEL") this.abort.abort();
    return this.#next() === "REFUSED" ? [{ pointer: "", message: "is wrong" }] : [];
  }

  #giveKey(): string {
    if (this.#next() === "REFUSED") throw new Error("no key");
    if (this.#next() === "CANCEL") this.abort.abort();
    return "k";
  }

  #decidePolicy(callId: string): RewriteDecision | Promise<RewriteDecision> {
    if (callId === "subject") return this.waiting.begin("policy");
    // The call is still to be prepared, or has just been: what can only come then comes now.
    const isSubjectsTurn = callId === "barrier" || callId === "follower";
    const isDue = this.#next() === "CANCEL" && (callId === "barrier" ? this.#seen().length === 1 : !this.#asks);
    if (isSubjectsTurn && isDue) this.abort.abort();
    return undefined;
  }

  #decideAuthorization(callId: string): AuthorizeDecision | Promise<AuthorizeDecision> {
    if (callId === "subject") return this.waiting.begin("authorization");
    return callId === "follower" && this.#asks ? { ask: { question: "and this?" } } : undefined;
  }
}
