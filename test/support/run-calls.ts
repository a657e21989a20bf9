import {
  type AnyTool,
  type Batch,
  type BatchResult,
  type ContentPart,
  createToolSession,
  defineTool,
  type GivenCall,
  type JsonObject,
  type KernelEvent,
  type ToolSession,
  type ToolSessionOptions,
} from "toolkernel";
import type { ExecuteOptions } from "../../src/host/read-response.ts";
import { trackedClock } from "./tracked.ts";

/** A tool that takes any arguments, answers "ok", and keeps the arguments of each run. */
export interface RecordingTool {
  readonly tool: AnyTool;
  /** The very arguments objects the executor was given, in order. */
  readonly runs: readonly JsonObject[];
}

/** Makes a {@link RecordingTool}; a read unless told otherwise. */
export function recordingTool(options: Partial<AnyTool> = {}): RecordingTool {
  const runs: JsonObject[] = [];
  const tool = defineTool({
    name: "read",
    description: "Reads.",
    inputSchema: { type: "object" } as JsonObject,
    risk: "readOnly",
    ...(options as object),
    execute: (args: JsonObject) => {
      runs.push(args);
      return "ok";
    },
  });
  return { tool: tool as AnyTool, runs };
}

/** A session on a clock that stands still and must be left without timers. */
export function testSession(options: ToolSessionOptions): ToolSession {
  return createToolSession({ runId: "run", clock: trackedClock().clock, ...options });
}

/** A call with an id of its own: `call("read", { path: "a" }, "r1")`. */
export function call(name: string, draft: GivenCall["arguments"] = "{}", id: string = name): GivenCall {
  return { id, name, arguments: draft };
}

/** What a batch came to, with all its events. */
export interface Played {
  readonly result: BatchResult;
  readonly events: readonly KernelEvent[];
}

/** Waits for a batch and its events. */
export async function finish(batch: Batch): Promise<Played> {
  const events: KernelEvent[] = [];
  batch.subscribe((event) => {
    events.push(event);
  });
  return { result: await batch.result, events };
}

/** Runs one response in a session of its own, and closes it. */
export async function play(
  options: ToolSessionOptions,
  calls: readonly GivenCall[],
  executeOptions: ExecuteOptions = {},
): Promise<Played> {
  const session = testSession(options);
  const played = await finish(session.execute(calls, executeOptions));
  await session.close();
  return played;
}

/** The text that a model sees of each call's result. */
export function textsOf(result: BatchResult): string[] {
  return result.settled.map(({ result: { content } }) => textOf(content));
}

/** The text of content, parts joined. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("\n");
}

/** Each call's outcome, in source order. */
export function outcomesOf(result: BatchResult): string[] {
  return result.settled.map(({ outcome }) => outcome);
}

/** Each call's outcome and category: `refused:authorization`, `succeeded`. */
export function verdictsOf(result: BatchResult): string[] {
  return result.settled.map(({ outcome, result: { failureCategory } }) =>
    failureCategory === undefined ? outcome : `${outcome}:${failureCategory}`,
  );
}

/** Kind and call of each event: `toolStarted read`. */
export function storyOf(events: readonly KernelEvent[]): string[] {
  return events.map((event) => ("callId" in event ? `${event.kind} ${event.callId}` : event.kind));
}

/** The events of one kind. */
export function eventsOf<Kind extends KernelEvent["kind"]>(
  events: readonly KernelEvent[],
  kind: Kind,
): KernelEvent<Kind>[] {
  return events.filter(({ kind: each }) => each === kind) as KernelEvent<Kind>[]; // the filter is that of the type
}
