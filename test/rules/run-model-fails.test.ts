import { describe, expect, it } from "vitest";
import { endOf, linesOf } from "../support/agent-bench.ts";
import { playBad, revoked, thrower } from "../support/run-model-scene.ts";

describe("a model that fails", () => {
  const overloaded = new Error("overloaded");
  it.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw overloaded;
      },
    ],
    ["rejects", () => Promise.reject(overloaded)],
    ["rejects after a while", async () => Promise.resolve().then(() => Promise.reject(overloaded))],
  ])("RUN-1: and %s ends the run providerError with its error", async (_what, generate) => {
    const played = await playBad(generate);
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.error).toBe(overloaded);
    expect(played.events.at(-1)).toMatchObject({ kind: "runEnded", status: "providerError", endedBy: "modelError" });
  });

  it.each<readonly [string, unknown]>([
    ["a text", "overloaded"],
    ["undefined", undefined],
    ["null", null],
    ["an object", { status: 529 }],
    ["a revoked proxy", revoked()],
    ["an object without a prototype", Object.create(null)],
  ])("RUN-1: and throws %s ends it with an error that holds what was thrown", async (_what, thrown) => {
    const played = await playBad(() => Promise.reject(thrown));
    expect(endOf(played)).toBe("providerError by modelError");
    expect(played.result.error).toBeInstanceOf(Error);
    expect(played.result.error?.message).toBe("The model provider threw a value that is not an Error.");
    expect(Object.is(played.result.error?.cause, thrown)).toBe(true);
  });

  it("RUN-1: and answers a thenable that throws ends it likewise", async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise that misbehaves is what is tested
    const played = await playBad(() => ({ then: () => thrower(overloaded) }));
    expect([endOf(played), played.result.error]).toEqual(["providerError by modelError", overloaded]);
  });

  it("RUN-1: keeps what the run did before", async () => {
    const played = await playBad(() => Promise.reject(overloaded));
    expect(linesOf(played.result.messages)).toEqual(["user go", "assistant read#read", "result read ok"]);
    expect([played.result.turns, played.result.toolCalls]).toEqual([2, 1]);
  });
});
