import { ToolError, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { play, THEN, trap } from "../support/can-hostile-scene.ts";

/** An object whose `then` is a function the first time it is looked at, and throws after that. */
function readableOnce(): object {
  let looks = 0;
  return Object.defineProperty({}, THEN, {
    get: () => {
      looks += 1;
      return looks === 1 ? () => undefined : trap();
    },
  });
}

describe("CAN-4: whatever an executor answers, there is one result", () => {
  it.each([
    ["throws at once", trap, "uncertain:internal"],
    [
      "throws a ToolError at once",
      () => {
        throw new ToolError("no");
      },
      "failed:unspecified",
    ],
    ["is an async function that throws at once", async () => trap(), "uncertain:internal"],
    ["answers a promise that rejects", () => Promise.reject(new Error("x")), "uncertain:internal"],
    ["answers a promise that never ends", () => new Promise(() => undefined), "uncertain:timeout"],
    ["answers a thenable", () => ({ [THEN]: (done: (value: unknown) => void) => done("ok") }), "succeeded"],
    [
      "answers a thenable that rejects",
      () => ({ [THEN]: (_: unknown, fail: (error: unknown) => void) => fail(new ToolError("no")) }),
      "failed:unspecified",
    ],
    ["answers a thenable that throws", () => ({ [THEN]: trap }), "uncertain:internal"],
    ["answers a thenable that never calls back", () => ({ [THEN]: () => undefined }), "uncertain:timeout"],
    ["answers a thenable whose then can be read only once", () => readableOnce(), "uncertain:internal"],
    [
      "answers a thenable of a thenable",
      () => ({ [THEN]: (done: (value: unknown) => void) => done(Promise.resolve("ok")) }),
      "succeeded",
    ],
    [
      "answers a function that is thenable",
      () => Object.assign(() => undefined, { [THEN]: (done: (value: unknown) => void) => done("ok") }),
      "succeeded",
    ],
    [
      "answers a promise whose constructor throws",
      () => Object.defineProperty(Promise.resolve("ok"), "constructor", { get: trap }),
      "uncertain:internal",
    ],
  ])("one that %s", async (_what, execute, expected) => {
    const { verdict, log } = await play(execute);
    expect(verdict).toBe(expected);
    expect(log.filter((line) => line.startsWith("t ends"))).toHaveLength(1);
    expect(log.filter((line) => line.includes("late"))).toEqual([]);
  });

  it("of a thenable that calls back twice, the first word counts", async () => {
    const twice = (first: number) => () => ({
      [THEN]: (done: (value: unknown) => void, fail: (error: unknown) => void) => {
        const words = [() => done(toolResult({ value: "first" })), () => fail(new Error("x"))];
        words[first]?.();
        words[1 - first]?.();
        throw new Error("and last");
      },
    });
    expect((await play(twice(0))).verdict).toBe("succeeded");
    expect((await play(twice(1))).verdict).toBe("uncertain:internal");
  });

  it("one that mutates its arguments gets a TypeError and hurts nobody else", async () => {
    const { verdict, texts } = await play((args) => {
      (args as { extra?: number }).extra = 1;
    });
    expect(verdict).toBe("uncertain:internal");
    expect(texts[0]).toContain("not extensible");
  });
});
