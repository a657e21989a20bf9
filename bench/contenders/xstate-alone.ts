/**
 * The floor of the kernel on XState's own interpreter: for each call an actor of its chart, told the facts
 * that a read without hooks is told, and nothing else. Nothing is parsed, validated or run.
 */
import { toolCallMachine } from "toolkernel/machines";
import { createActor } from "xstate";
import type { BenchAnswer, BenchCall, Contender, Host } from "../contender.ts";

/** See the file header. */
export const xstateAlone: Contender = {
  name: "XState alone",
  version: "actors of the chart of a call, without a kernel",
  equip: () => open,
};

const INPUT = {
  callId: "call",
  isWrite: false,
  throwIsUncertain: true,
  canRecover: false,
  isRecorded: false,
  wasDispatched: false,
} as const;

const FACTS = [
  ...["FOUND", "SHAPED", "VALID", "KEPT", "REFINED", "KEYED", "ALLOWED"],
  ...["PLANNED", "EPOCH_STARTED", "ADMITTED", "SUCCEEDED", "FINISHED"],
].map((type) => ({ type }) as Parameters<ReturnType<typeof createActor<typeof toolCallMachine>>["send"]>[0]);

function open(): Host {
  return {
    respond: async (calls) => calls.map(lead),
    answers: (results) => results as readonly BenchAnswer[], // what `respond` has made
  };
}

function lead({ id }: BenchCall): BenchAnswer {
  const actor = createActor(toolCallMachine, { id, input: INPUT });
  actor.start();
  for (const fact of FACTS) actor.send(fact);
  return { id, text: "ok", isError: actor.getSnapshot().value !== "succeeded" };
}
