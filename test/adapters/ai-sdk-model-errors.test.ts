import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ask, DONE, TEXT } from "../support/ai-sdk-model-scene.ts";
import { apiError, streamingModel } from "./wires/language-models.ts";

describe("fromAiSdkModel: errors and retries", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("what may pass by itself is retried twice, after half a second and a second", async () => {
    const model = streamingModel([apiError({ isRetryable: true }), apiError({ isRetryable: true }), [...TEXT, DONE]]);
    const asking = ask(model);
    await vi.advanceTimersByTimeAsync(499);
    expect(model.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await asking).response.content).toEqual([{ type: "text", text: "Hi." }]);
    expect(model.asked).toHaveLength(3);
  });

  it("the provider's own wait is kept, up to a minute", async () => {
    const slow = apiError({ isRetryable: true, responseHeaders: { "retry-after": "7" } });
    const tooSlow = apiError({ isRetryable: true, responseHeaders: { "retry-after": "3600" } });
    const model = streamingModel([slow, tooSlow, [DONE]]);
    const asking = ask(model);
    await vi.advanceTimersByTimeAsync(6_999);
    expect(model.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(model.asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    await asking;
    expect(model.asked).toHaveLength(3);
  });

  it("what will not pass is thrown at once, and so is the last failure", async () => {
    const fatal = apiError({ isRetryable: false });
    await expect(ask(streamingModel([fatal]))).rejects.toBe(fatal);
    const last = apiError({ isRetryable: true });
    await expect(ask(streamingModel([last]), {}, { maxRetries: 0 })).rejects.toBe(last);
  });

  it("nothing is retried once a piece has been emitted", async () => {
    const overloaded = apiError({ isRetryable: true });
    const model = streamingModel([[...TEXT, { type: "error", error: overloaded }], [DONE]]);
    await expect(ask(model)).rejects.toBe(overloaded);
    expect(model.asked).toHaveLength(1);
  });

  it("an abort ends the wait, and the signal reaches the model", async () => {
    const controller = new AbortController();
    const model = streamingModel([apiError({ isRetryable: true }), [DONE]]);
    const asking = ask(model, {}, { signal: controller.signal });
    const refused = expect(asking).rejects.toBe("the user left");
    await vi.advanceTimersByTimeAsync(100);
    controller.abort("the user left");
    await refused;
    expect(model.asked).toEqual([expect.objectContaining({ abortSignal: controller.signal })]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
