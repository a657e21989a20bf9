import type { ToolContext } from "../../src/domain/tool.ts";

/** What an executor is given, for tests that call one without a session. */
export interface TestContext {
  readonly context: ToolContext;
  readonly controller: AbortController;
  readonly updates: readonly unknown[];
}

/** Makes the context of a first call; its signal fires through `controller`. */
export function testContext(): TestContext {
  const controller = new AbortController();
  const updates: unknown[] = [];
  const context: ToolContext = {
    runId: "run",
    turn: 1,
    callId: "call",
    callIndex: 0,
    conflictKeys: [],
    operationId: "operation",
    signal: controller.signal,
    host: undefined,
    progress: (update) => {
      updates.push(update);
    },
  };
  return { context, controller, updates };
}
