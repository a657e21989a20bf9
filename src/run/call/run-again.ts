import { isDeclaredResult } from "../../domain/content.ts";
import type { AnyTool, ToolContext } from "../../domain/tool.ts";

/**
 * The tool as a call that an earlier process has dispatched may be run again (RUN-6), or undefined when it
 * may not: a durable action goes to its journal, which decides; a read and an idempotent write run again,
 * after `recover` was asked if there is one; any other write is not called again.
 */
export function toolForAgain(tool: AnyTool): AnyTool | undefined {
  if (tool.durable !== undefined || tool.risk === "readOnly") return tool;
  if (tool.risk !== "idempotentWrite") return undefined;
  const { recover, execute } = tool;
  if (recover === undefined) return tool;
  const askFirst = async (prepared: never, context: ToolContext): Promise<unknown> => {
    const known = await askQuietly(() => recover(prepared, context));
    return isDeclaredResult(known) && known.outcomeUncertain !== true ? known : execute(prepared, context);
  };
  return { ...tool, execute: askFirst };
}

async function askQuietly(ask: () => unknown): Promise<unknown> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
