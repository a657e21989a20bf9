import {
  Agent,
  defineTool,
  type JsonObject,
  type KernelEvent,
  type ModelProvider,
  type Telemetry,
  toolResult,
} from "toolkernel";
import { expect } from "vitest";
import { trackedClock } from "./tracked.ts";

export const SECRET = "s3cr3t";

export const OTHER_SECRET = "wh1sper";

/** Tools that say the secrets wherever a tool can say anything. */
export const TELLTALES = [
  defineTool({
    name: "tell",
    description: "Tells.",
    inputSchema: { type: "object" } as JsonObject,
    conflictKey: () => `key-${SECRET}`,
    async *execute() {
      yield OTHER_SECRET;
      return toolResult({ value: SECRET, details: { [SECRET]: OTHER_SECRET } });
    },
  }),
  defineTool({
    name: "fail",
    description: "Fails.",
    inputSchema: { type: "object" } as JsonObject,
    throwMeans: "failed",
    execute: () => {
      throw new Error(SECRET);
    },
  }),
  defineTool({
    name: "refuse",
    description: "Is refused.",
    inputSchema: { type: "object" } as JsonObject,
    validate: () => OTHER_SECRET,
    execute: () => "never",
  }),
  defineTool({ name: "ask", description: "Is asked about.", inputSchema: { type: "object" }, execute: () => SECRET }),
];

export const draft = { password: SECRET };

/** A model that asks for tools once and then says that it is done; it streams both. */
export function telltaleModel(): ModelProvider {
  return {
    generate: async ({ turn }, { emit }) => {
      if (turn > 1) {
        emit({ type: "text", text: "Done." });
        return { content: [{ type: "text", text: "Done." }], stopReason: "stop" };
      }
      const argumentsText = JSON.stringify(draft);
      emit({ type: "reasoning", text: "I look." });
      emit({ type: "toolCall", id: "a", name: "tell", argumentsText });
      const calls = ["tell", "fail", "refuse"].map((name, index) => {
        return { type: "toolCall", id: `call-${index}`, name, arguments: argumentsText } as const;
      });
      return { content: [{ type: "text", text: "I look." }, ...calls], stopReason: "toolUse" };
    },
  };
}

export async function runTelltales(
  telemetry?: Telemetry,
): Promise<{ events: KernelEvent[]; run: ReturnType<Agent["run"]> }> {
  const agent = new Agent({ model: telltaleModel(), tools: TELLTALES, clock: trackedClock().clock, telemetry });
  const events: KernelEvent[] = [];
  const run = agent.run("hello", { runId: "run" });
  run.subscribe((event) => {
    events.push(event);
  });
  expect((await run.result).status).toBe("completed");
  return { events, run };
}
