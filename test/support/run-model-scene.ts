import type { ModelContext, ModelProvider, ModelResponse } from "toolkernel";
import { expect } from "vitest";
import { ask, linesOf, openAgentBench } from "./agent-bench.ts";
import { eventsOf } from "./run-calls.ts";
import { findTranscriptFaults } from "./valid-transcript.ts";

/** A model that does what a test says; its answer is nobody's to trust. */
export function modelOf(generate: (context: ModelContext) => unknown): ModelProvider {
  return { generate: (_request, context) => generate(context) as Promise<ModelResponse> };
}

/** What a run with this model comes to, after one good turn, with something queued. */
export async function playBad(generate: (context: ModelContext) => unknown) {
  let turn = 0;
  const model = modelOf((context) => {
    turn += 1;
    return turn === 1 ? Promise.resolve(ask("read")) : generate(context);
  });
  const bench = openAgentBench({ model });
  const { run, finish } = bench.start();
  run.followUp("later");
  const played = await finish();
  expect(findTranscriptFaults(played.result.messages)).toEqual([]);
  expect(linesOf(played.result.undelivered)).toEqual(["user later"]);
  expect(eventsOf(played.events, "runFaulted")).toEqual([]);
  expect(bench.pendingTimers()).toBe(0);
  return played;
}

/** A part of a message that is text. */
export const text = (value: string) => ({ type: "text", text: value });

/** A value that throws whatever is asked of it. */
export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Throws where an expression is wanted. */
export function thrower(error: Error): never {
  throw error;
}
