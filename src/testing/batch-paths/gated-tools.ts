/**
 * A host's tools, each call of which waits to be let go and ends as its path says.
 * Owns: the calls that have been dispatched. Does not own: the tools' bodies, time. Invariant: a body is run
 * at most once per call, and to its end before the call ends.
 */
import { type AnyTool, type ToolContext, ToolError } from "toolkernel";
import type { PathPlan } from "./plan-paths.ts";

/** A call that was dispatched. */
export interface GatedCall {
  readonly index: number;
  readonly callId: string;
  readonly tool: AnyTool;
  /** By the path's clock. */
  readonly dispatchedAtMs: number;
  readonly signal: AbortSignal;
  isLetGo: boolean;
  /** Lets it go: from here on it ends as its path says. */
  readonly letGo: () => void;
  /** Resolves when the body, if one is run, has done its work. */
  readonly worked: Promise<void>;
}

/** What the tools of a path are made with. */
export interface GatedToolsOptions {
  readonly tools: readonly AnyTool[];
  readonly plan: PathPlan;
  readonly now: () => number;
  /** Which calls, by their places, are of which tool. */
  readonly callNames: readonly string[];
}

/** As long as a time-out can be: nobody's, unless one of the tool's calls is to time out. */
const LONGEST_MS = 2_147_483_647;
const FAULT_TEXT = "A fault of the path, not of the tool.";

/** See the file header. */
export class GatedTools {
  /** In the order in which they were dispatched. */
  readonly calls: GatedCall[] = [];
  readonly tools: readonly AnyTool[];
  readonly #options: GatedToolsOptions;
  readonly #over: Promise<void>;
  #end: () => void = () => undefined;

  constructor(options: GatedToolsOptions) {
    this.#options = options;
    this.#over = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.tools = options.tools.map((tool) => this.#gate(tool));
  }

  /** Calls that wait to be let go, in the order of the plan. */
  get waiting(): readonly GatedCall[] {
    const { order } = this.#options.plan;
    const open = this.calls.filter(({ isLetGo }) => !isLetGo);
    return open.sort((one, other) => order.indexOf(one.index) - order.indexOf(other.index));
  }

  /** Ends every call that was never to end. */
  release(): void {
    for (const call of this.waiting) call.letGo();
    this.#end();
  }

  #gate(tool: AnyTool): AnyTool {
    const { callNames, plan } = this.#options;
    const timesOut = callNames.some((name, index) => name === tool.name && plan.outcomes[index] === "timesOutAfter");
    const execute = (args: never, context: ToolContext): Promise<unknown> => this.#execute(tool, args, context);
    return { ...tool, ...(!timesOut && { timeoutMs: LONGEST_MS }), execute };
  }

  async #execute(tool: AnyTool, args: never, context: ToolContext): Promise<unknown> {
    const { plan, now } = this.#options;
    const outcome = plan.outcomes[context.callIndex] ?? "succeeds";
    const hasBody = outcome !== "fails" && outcome !== "throwsBefore";
    let noteWorked: () => void = () => undefined;
    const worked = new Promise<void>((resolve) => {
      noteWorked = resolve;
    });
    const work = (): Promise<unknown> => runBody(tool, args, context).finally(noteWorked);
    const early = hasBody && plan.effects === "atDispatch" ? work() : undefined;
    // What it answers or throws is looked at when the call is let go.
    early?.catch(() => undefined);
    if (!hasBody) noteWorked();
    await new Promise<void>((letGo) => {
      const call: GatedCall = {
        index: context.callIndex,
        callId: context.callId,
        tool,
        dispatchedAtMs: now(),
        signal: context.signal,
        isLetGo: false,
        letGo: () => {
          call.isLetGo = true;
          letGo();
        },
        worked,
      };
      this.calls.push(call);
    });
    if (outcome === "fails") throw new ToolError(FAULT_TEXT);
    if (outcome === "throwsBefore") throw new Error(FAULT_TEXT);
    const answer = await (early ?? work());
    if (outcome === "throwsAfter") throw new Error(FAULT_TEXT);
    if (outcome === "timesOutAfter") await this.#over;
    return answer;
  }
}

/** Runs a tool's own body to its end; what an async iterable yields is reported as progress. */
async function runBody(tool: AnyTool, args: never, context: ToolContext): Promise<unknown> {
  const answer: unknown = await tool.execute(args, context);
  if (!isAsyncIterable(answer)) return answer;
  const iterator = answer[Symbol.asyncIterator]();
  const close = (): void => {
    iterator.return?.().then(undefined, () => undefined);
  };
  context.signal.addEventListener("abort", close, { once: true });
  try {
    let last: unknown;
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) return next.value === undefined ? last : next.value;
      last = next.value;
      context.progress(last);
    }
  } finally {
    context.signal.removeEventListener("abort", close);
  }
}

function isAsyncIterable(answer: unknown): answer is AsyncIterable<unknown, unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}
