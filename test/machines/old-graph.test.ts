import { getShortestPaths } from "@xstate/graph";
import { actionMachine, batchMachine, epochMachine, runMachine, toolCallMachine } from "toolkernel/machines";
import { expect, it } from "vitest";
import { getShortestPaths as getShortestPathsNow } from "xstate/graph";

const INPUTS = {
  run: [runMachine, { runId: "r" }],
  batch: [batchMachine, { turn: 1, calls: 2 }],
  epoch: [epochMachine, { epoch: 0, calls: 2 }],
  toolCall: [
    toolCallMachine,
    { callId: "c", isWrite: true, throwIsUncertain: true, canRecover: true, isRecorded: false, wasDispatched: false },
  ],
  action: [actionMachine, {}],
} as const;

it.each(Object.entries(INPUTS))(
  "the %s chart gives the package @xstate/graph 3 the paths it gives xstate/graph",
  (_name, [machine, input]) => {
    const options = {
      input,
      filterEvents: (state: { readonly status: string }) => state.status === "active",
      serializeState: (
        state: { readonly value: unknown; readonly context: unknown },
        event: unknown,
        before: unknown,
      ) =>
        JSON.stringify([
          state.value,
          state.context,
          event,
          (before as { readonly value?: unknown } | undefined)?.value,
        ]),
    };
    const namesOf = (paths: readonly { readonly steps: readonly { readonly event: { readonly type: string } }[] }[]) =>
      paths.map(({ steps }) => steps.map(({ event }) => event.type).join(" ")).sort();
    const old = namesOf(getShortestPaths(machine as never, options as never));
    expect(old.length).toBeGreaterThan(3);
    expect(old).toEqual(namesOf(getShortestPathsNow(machine as never, options as never)));
  },
);
