import type { Delta, ModelContext, ModelResponse } from "toolkernel";
import { describe, expect, it } from "vitest";
import { ask, endOf, loopStory, openAgentBench, say } from "../support/agent-bench.ts";
import { eventsOf } from "../support/run-calls.ts";
import { modelOf, playBad, revoked, thrower } from "../support/run-model-scene.ts";

describe("what a model streams", () => {
  it("RUN-1: is told of as it comes, behind one messageStarted, before the message", async () => {
    const deltas: Delta[] = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "I " },
      { type: "text", text: "read" },
      { type: "toolCall", id: "a", name: "read" },
      { type: "toolCall", id: "a", argumentsText: "{}" },
    ];
    let turn = 0;
    const model = modelOf(async ({ emit }) => {
      turn += 1;
      if (turn > 1) return say();
      for (const delta of deltas) {
        emit(delta);
        await Promise.resolve();
      }
      return ask("read");
    });
    const { events } = await openAgentBench({ model }).play();
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual(deltas);
    expect(loopStory(events).slice(3, 11)).toEqual([
      ...["modelRequestStarted", "messageStarted", ...deltas.map(() => "messageUpdated"), "messageEnded assistant"],
    ]);
  });

  it("RUN-1: is not told of where it is no delta, and still shows that the model lives", async () => {
    const nonsense: unknown[] = [
      ...[
        undefined,
        null,
        "text",
        5,
        [],
        {},
        { type: "text" },
        { type: "text", text: 5 },
        { type: "image", text: "x" },
      ],
      ...[
        { type: "toolCall" },
        { type: "toolCall", id: 5 },
        revoked(),
        {
          get type() {
            return thrower(new Error("x"));
          },
        },
      ],
    ];
    let context: ModelContext | undefined;
    let answer: (response: ModelResponse) => void = () => undefined;
    const model = modelOf((given) => {
      context = given;
      return new Promise<ModelResponse>((resolve) => {
        answer = resolve;
      });
    });
    const bench = openAgentBench({ model, limits: { modelTimeoutMs: 100 } });
    const { events, finish } = bench.start();
    await bench.advance();
    for (const delta of nonsense) {
      await bench.advance(99);
      context?.emit(delta as Delta);
    }
    context?.emit({ type: "text", text: "x", extra: 1 } as never);
    context?.emit({ type: "toolCall", id: "a", name: 5, argumentsText: "{" } as never);
    answer(say());
    expect(endOf(await finish())).toBe("completed by noCalls");
    expect(eventsOf(events, "messageUpdated").map(({ delta }) => delta)).toEqual([
      { type: "text", text: "x" },
      { type: "toolCall", id: "a", argumentsText: "{" },
    ]);
  });

  it("RUN-4: after its response, or after the run, is dropped", async () => {
    const contexts: ModelContext[] = [];
    const model = modelOf(async (context) => {
      contexts[0]?.emit({ type: "text", text: "late" });
      contexts.push(context);
      return contexts.length === 1 ? ask("read") : say();
    });
    const bench = openAgentBench({ model });
    const { events, finish } = bench.start();
    await finish();
    for (const { emit } of contexts) emit({ type: "text", text: "later" });
    await bench.advance();
    expect(eventsOf(events, "messageUpdated")).toEqual([]);
    expect(events.at(-1)?.kind).toBe("runEnded");
  });

  it("RUN-1: by a model that then fails leaves no message", async () => {
    const played = await playBad(async ({ emit }) => {
      emit({ type: "text", text: "I was about" });
      throw new Error("connection lost");
    });
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.messages.at(-1)?.role).toBe("toolResult");
    expect(eventsOf(played.events, "messageUpdated")).toHaveLength(1);
  });
});
