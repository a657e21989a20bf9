import { defineTool, type JsonObject, type Tool, type ToolContext, type ToolDefinition } from "toolkernel";
import { checkGiven, mustBeRecord, readGiven } from "../domain/check-options.ts";

/** One call that runs and waits for the test to end it. */
export interface ControlledCall {
  readonly callIndex: number;
  /** The arguments that the executor was given. */
  readonly arguments: JsonObject;
  /** The signal that the executor was given. */
  readonly signal: AbortSignal;
  /** Ends the call with a value, a `toolResult(...)` or nothing. */
  resolve(value?: unknown): void;
  /** Ends the call with a throw. */
  reject(error: unknown): void;
  /** Reports progress as the executor would. */
  progress(update: unknown): void;
}

/** What {@link controllableTool} takes: a tool definition of which only the name is needed. */
export type ControllableToolOptions<Name extends string> = { readonly name: Name } & Partial<
  Omit<ToolDefinition<Name, JsonObject, unknown>, "name" | "execute">
>;

/** A tool whose calls end when a test says so. */
export interface ControllableTool<Name extends string = string> extends Tool<Name> {
  /** The calls that run now, in the order they were dispatched; a call leaves when it is ended. */
  readonly pending: ControlledCall[];
}

/**
 * Makes a tool whose executor does nothing but wait for the test, so that every order of completion,
 * failure and lateness can be played. It pays no heed to its signal: an abandoned call stays in
 * `pending` and can still be ended late.
 *
 * **shape**: without a schema it takes any object; without a risk it is a write, as every tool.
 *
 * @throws KernelError `INVALID_OPTIONS` as `defineTool` does.
 */
export function controllableTool<const Name extends string>(
  options: ControllableToolOptions<Name>,
): ControllableTool<Name> {
  checkGiven(options, "options", mustBeRecord);
  const pending: ControlledCall[] = [];
  const tool = readGiven("options", () =>
    defineTool<Name, JsonObject, unknown>({
      description: `Does what the test says, as ${String(options.name)}.`,
      inputSchema: { type: "object" },
      ...options,
      execute: (args, context) => waitForTest(pending, args, context),
    }),
  );
  return { ...tool, pending };
}

function waitForTest(pending: ControlledCall[], args: JsonObject, context: ToolContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call: ControlledCall = {
      callIndex: context.callIndex,
      arguments: args,
      signal: context.signal,
      resolve: (value) => {
        leave(pending, call);
        resolve(value);
      },
      reject: (error) => {
        leave(pending, call);
        reject(error);
      },
      progress: (update) => context.progress(update),
    };
    pending.push(call);
  });
}

// The test may have taken the call out of the list itself.
function leave(pending: ControlledCall[], call: ControlledCall): void {
  const index = pending.indexOf(call);
  if (index !== -1) {
    pending.splice(index, 1);
  }
}
