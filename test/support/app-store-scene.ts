import type { AgentHooks, JsonObject, SessionHooks } from "toolkernel";
import { type RecordingTool, recordingTool } from "./run-calls.ts";

/** How a host's process is: its tools note what they did, its hooks what they were asked. */
export interface Process {
  readonly write: RecordingTool;
  readonly asked: string[];
  readonly hooks: AgentHooks & SessionHooks;
}

export function makeProcess(): Process {
  const asked: string[] = [];
  const write = recordingTool({
    name: "write",
    risk: "nonIdempotentWrite",
    executionMode: "parallel",
    conflictKey: (({ n }: JsonObject) => {
      asked.push(`key ${n}`);
      return `k${n}`;
    }) as never,
    prepareArguments: (draft) => {
      asked.push("prepare");
      return draft;
    },
  });
  return {
    write,
    asked,
    hooks: {
      rewriteToolCall: ({ call: { id } }) => {
        asked.push(`rewrite ${id}`);
        return undefined;
      },
      authorizeToolCall: ({ call: { id }, tool }) => {
        asked.push(`authorize ${id}`);
        return tool.name === "write" ? { ask: { about: id } } : undefined;
      },
    },
  };
}
