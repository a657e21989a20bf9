import {
  Agent,
  type AgentOptions,
  type AssistantPart,
  type KernelEvent,
  type Message,
  type ModelProvider,
  type ModelRequest,
  type ModelResponse,
  type ResumeOptions,
  type Run,
  type RunOptions,
  type RunResult,
  type Usage,
} from "toolkernel";
import { type ScriptedResponse, type SimulatedClock, scriptedModel } from "toolkernel/testing";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { recordingTool, textOf } from "./run-calls.ts";
import { trackedClock } from "./tracked.ts";

/** What a bench is opened with: an Agent's options, of which none is needed, and a script in place of a model. */
export type AgentBenchOptions = Partial<AgentOptions> & {
  readonly script?: readonly ScriptedResponse[];
  readonly simulated?: SimulatedClock;
};

/** An Agent whose model is a script and whose time a test moves by hand. */
export interface AgentBench {
  readonly agent: Agent;
  /** Every request that the script's model was sent, with its messages as they were then. */
  readonly requests: readonly ModelRequest[];
  /** Moves time on; 0 lets promises alone do their work. */
  advance(ms?: number): Promise<void>;
  pendingTimers(): number;
  /** Starts a run and watches it from its first event on. */
  start(input?: string | readonly Message[], options?: RunOptions): Followed;
  resume(runId: string, options?: ResumeOptions): Followed;
  /** Starts a run and waits for its end. */
  play(input?: string | readonly Message[], options?: RunOptions): Promise<PlayedRun>;
}

/** A run under way. */
export interface Followed {
  readonly run: Run;
  /** Every event so far. */
  readonly events: readonly KernelEvent[];
  finish(): Promise<PlayedRun>;
}

/** A run that has ended, with all its events. */
export interface PlayedRun {
  readonly run: Run;
  readonly result: RunResult;
  readonly events: readonly KernelEvent[];
}

/** One for all benches of a file: what takes time is not the loop but the first schema that is compiled. */
const jsonSchemaValidator = ajvValidator();

/** Opens an {@link AgentBench}; without tools of its own it has one read, `read`, that answers "ok". */
export function openAgentBench(options: AgentBenchOptions = {}): AgentBench {
  const { script = [], simulated = trackedClock(), ...given } = options;
  const requests: ModelRequest[] = [];
  const model = given.model ?? keepRequests(scriptedModel(script), requests);
  const agent = new Agent({
    tools: [recordingTool().tool],
    clock: simulated.clock,
    jsonSchemaValidator,
    ...given,
    model,
  });
  const start: AgentBench["start"] = (input = "go", runOptions = {}) =>
    followRun(agent.run(input, { runId: "run", ...runOptions }));
  return {
    agent,
    requests,
    advance: (ms = 0) => simulated.advance(ms),
    pendingTimers: () => simulated.pendingTimers(),
    start,
    resume: (runId, resumeOptions) => followRun(agent.resume(runId, resumeOptions)),
    play: (input, runOptions) => start(input, runOptions).finish(),
  };
}

/** Watches a run without a hand in it. */
export function followRun(run: Run): Followed {
  const events: KernelEvent[] = [];
  run.subscribe((event) => {
    events.push(event);
  });
  return { run, events, finish: async () => ({ run, result: await run.result, events }) };
}

/** The same model, with every request kept. */
export function keepRequests(model: ModelProvider, requests: ModelRequest[]): ModelProvider {
  return {
    generate(request, context) {
      requests.push({ ...request, messages: [...request.messages] });
      return model.generate(request, context);
    },
  };
}

/** A response without calls. */
export function say(text = "done", usage?: Usage): ModelResponse {
  return { content: [{ type: "text", text }], stopReason: "stop", ...(usage !== undefined && { usage }) };
}

/** A call part: `callPart("read", "r1", '{"path":"a"}')`. */
export function callPart(name: string, id: string = name, draft: unknown = "{}"): AssistantPart {
  return { type: "toolCall", id, name, arguments: draft as string };
}

/** A response with calls: names, or whole parts. */
export function ask(...calls: readonly (string | AssistantPart)[]): ModelResponse {
  const content = calls.map((given) => (typeof given === "string" ? callPart(given) : given));
  return { content, stopReason: "toolUse" };
}

/** How a run ended: `stopped by shouldStop`, `kernelError`. */
export function endOf({ result }: Pick<PlayedRun, "result">): string {
  return result.endedBy === undefined ? result.status : `${result.status} by ${result.endedBy}`;
}

/** A transcript as lines: `user go`, `assistant read#r1`, `result r1 ok`, `error r1 not_executed…`, `policy`. */
export function linesOf(messages: readonly Message[]): string[] {
  return messages.map(lineOf);
}

function lineOf(message: Message): string {
  switch (message.role) {
    case "user":
      return `user ${textOf(message.content)}`;
    case "assistant":
      return `assistant ${message.content.map(partLine).join(", ")}`;
    case "toolResult":
      return `${message.isError ? "error" : "result"} ${message.callId} ${firstWord(textOf(message.content))}`;
    case "policy":
      return "policy";
  }
}

/** The messages that the events of a run told of, in order. */
export function toldMessages(events: readonly KernelEvent[]): Message[] {
  return events.flatMap((event) => (event.kind === "messageEnded" ? [event.message] : []));
}

/** The kinds of a run's events, without those of its calls' way. */
export function loopStory(events: readonly KernelEvent[]): string[] {
  return events
    .filter(({ kind }) => /^(?:run|turn|model|message)/.test(kind))
    .map((event) => (event.kind === "messageEnded" ? `messageEnded ${event.message.role}` : event.kind));
}

function partLine(part: AssistantPart): string {
  return part.type === "toolCall" ? `${part.name}#${part.id}` : part.text;
}

function firstWord(text: string): string {
  return /^(?:not_executed: )?[^\s:.]*/.exec(text)?.[0] ?? "";
}
