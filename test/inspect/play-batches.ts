import {
  type AnyTool,
  createToolSession,
  defineTool,
  type JsonObject,
  OutcomeUnknownError,
  ToolError,
} from "toolkernel";
import { type RecordRunOptions, type RunRecorder, recordRun } from "toolkernel/inspect";
import { simulatedClock } from "toolkernel/testing";

/** One call of a played response. */
export interface PlannedCall {
  readonly tool: "read" | "edit" | "shell" | "unknown";
  /** Its conflict keys. */
  readonly keys?: readonly string[];
  /** How long it runs; default 10. */
  readonly ms?: number;
  readonly ends?: "fails" | "loses";
}

/** How a play is recorded, and what cuts it short. */
export interface PlayOptions extends Omit<RecordRunOptions, "clock"> {
  readonly runId?: string;
  /** Cancels each batch so long after it began. */
  readonly cancelAfterMs?: number;
  /** Told of every line as it is written. */
  readonly write?: (line: string) => void;
  /** In place of a recorder of its own. */
  readonly recorder?: RunRecorder;
  /** Called each time the simulated time has moved on. */
  readonly afterStep?: () => Promise<void>;
}

const PAUSE_MS = 35;

/** Plays responses through a session on simulated time, three calls at once, and answers the recording. */
export async function playBatches(
  batches: readonly (readonly PlannedCall[])[],
  { runId = "demo", cancelAfterMs, write, recorder, afterStep, ...asked }: PlayOptions = {},
): Promise<string> {
  const { clock, advance } = simulatedClock();
  const lines: string[] = [];
  const record = (line: string): void => {
    lines.push(line);
    write?.(line);
  };
  const { telemetry, inspect, follow } = recorder ?? recordRun(record, { ...asked, clock });
  const limits = { maxConcurrentTools: 3, maxToolCallsPerTurn: 600 };
  const session = createToolSession({ tools: playTools(clock), runId, clock, limits, telemetry, inspect });
  for (const batch of batches) {
    const calls = batch.map((call, index) => ({ id: `c${index}`, name: call.tool, arguments: argumentsOf(call) }));
    const cancel = new AbortController();
    const running = session.execute(calls, { signal: cancel.signal });
    follow(running, calls);
    const takeBack =
      cancelAfterMs === undefined ? undefined : clock.setTimer(clock.now() + cancelAfterMs, () => cancel.abort());
    let isOver = false;
    running.result.then(
      () => {
        isOver = true;
      },
      () => {
        isOver = true;
      },
    );
    while (!isOver) {
      await advance(5);
      await afterStep?.();
    }
    takeBack?.();
    await advance(PAUSE_MS);
  }
  await session.close();
  return lines.join("");
}

/** Many calls of all kinds over several responses, always the same. */
export function manyCalls(count: number, perResponse = 50): readonly (readonly PlannedCall[])[] {
  const calls = Array.from({ length: count }, (_, index): PlannedCall => {
    const ms = 5 + ((index * 37) % 60);
    if (index % 23 === 11) return { tool: "shell", ms, keys: [`file-${index % 7}`] };
    if (index % 31 === 7) return { tool: "edit", ms, keys: [`file-${index % 5}`], ends: "fails" };
    if (index % 97 === 40) return { tool: "edit", ms, keys: [`file-${index % 5}`], ends: "loses" };
    if (index % 3 === 0) return { tool: "edit", ms, keys: [`file-${index % 9}`] };
    return index % 41 === 13
      ? { tool: "unknown" }
      : { tool: "read", ms, ...(index % 2 === 0 && { keys: [`file-${index % 9}`] }) };
  });
  const responses: (readonly PlannedCall[])[] = [];
  for (let from = 0; from < count; from += perResponse) responses.push(calls.slice(from, from + perResponse));
  return responses;
}

function argumentsOf({ keys = [], ms = 10, ends }: PlannedCall): JsonObject {
  return { keys: [...keys], ms, ...(ends !== undefined && { ends }) };
}

interface PlayArguments {
  readonly keys: readonly string[];
  readonly ms: number;
  readonly ends?: "fails" | "loses";
}

function playTools(clock: ReturnType<typeof simulatedClock>["clock"]): readonly AnyTool[] {
  const shared = {
    description: "Plays a part.",
    inputSchema: { type: "object" },
    conflictKey: (given: unknown) => [...(given as PlayArguments).keys],
    trackExactRepeats: false,
    execute: async (given: unknown, { signal }: { readonly signal: AbortSignal }) => {
      const { ms, ends } = given as PlayArguments;
      await new Promise<void>((resolve) => {
        const takeBack = clock.setTimer(clock.now() + ms, resolve);
        const stop = (): void => {
          takeBack();
          resolve();
        };
        signal.addEventListener("abort", stop, { once: true });
      });
      if (ends === "fails") throw new ToolError("there is no such line");
      if (ends === "loses") throw new OutcomeUnknownError("the line broke");
      return { done: true };
    },
  } as const;
  return [
    defineTool({ ...shared, name: "read", risk: "readOnly" }),
    defineTool({ ...shared, name: "edit", executionMode: "parallel" }),
    defineTool({ ...shared, name: "shell" }),
  ];
}
