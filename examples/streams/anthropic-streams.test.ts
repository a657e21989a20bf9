import Anthropic from "@anthropic-ai/sdk";
import { callsFromAnthropic } from "toolkernel/anthropic";
import { describe, expect, it } from "vitest";
import { recordedFetch } from "../support/recorded-fetch.ts";
import { chunksOf, eventStream, hasRecordings, recording } from "../support/recordings.ts";

describe.skipIf(!hasRecordings)("recorded streams, joined by the Anthropic SDK (needs ../shared)", () => {
  async function join(stream: string): Promise<Anthropic.Message> {
    const client = new Anthropic({ apiKey: "none", maxRetries: 0, fetch: recordedFetch([stream]).fetch });
    return client.messages.stream({ model: "any", max_tokens: 1, messages: [] }).finalMessage();
  }

  it("anthropic-no-args-stream.chunks.jsonl: no argument text means no arguments", async () => {
    const message = await join(eventStream(chunksOf("anthropic-no-args-stream.chunks.jsonl")));
    expect(callsFromAnthropic(message)).toEqual({
      stopReason: "toolUse",
      calls: [{ id: "toolu_01QE1WLsSVp5hy5Q3GmGTmjP", name: "updateIssueList", arguments: {} }],
    });
  });

  it("anthropic-stream-fragments.sse: arguments cut in keys and numbers", async () => {
    expect(callsFromAnthropic(await join(recording("anthropic-stream-fragments.sse")))).toEqual({
      stopReason: "toolUse",
      calls: [
        {
          id: "toolu_01MKSN7NHsBVKr7Jvw5pqCQq",
          name: "weather",
          arguments: { latitude: "52.5200", longitude: "13.4050" },
          providerData: { caller: { type: "direct" } },
        },
      ],
    });
  });
});
