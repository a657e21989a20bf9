import type { SessionHooks } from "toolkernel";
import { describe, expect, it } from "vitest";
import { playTurns, times } from "../support/rep-scene.ts";
import { call, outcomesOf, play, recordingTool } from "../support/run-calls.ts";

describe("a call that is not tracked", () => {
  const poll = (): Parameters<typeof recordingTool>[0] => ({ name: "poll", trackExactRepeats: false });

  it("REP-8: neither advances nor resets a sequence", async () => {
    const tools = [recordingTool().tool, recordingTool(poll()).tool];
    const mixed = ["read", "poll", "read", "poll", "poll", "read", "poll"].map((name, index) =>
      call(name, "{}", `c${index}`),
    );
    expect((await playTurns({ tools }, [mixed])).repeats).toEqual([["c5 advisory 3"]]);
    expect((await playTurns({ tools }, [times(20, "{}", "poll")])).repeats).toEqual([[]]);
  });

  it("REP-8: does so also where it is refused", async () => {
    const tools = [recordingTool(poll()).tool];
    const hooks: SessionHooks = { authorizeToolCall: () => ({ block: "no" }) };
    expect((await playTurns({ tools, hooks }, [times(9, "{}", "poll")])).repeats).toEqual([[]]);
    expect((await playTurns({ tools }, [times(9, "{", "poll")])).repeats).toEqual([[]]);
  });

  it("REP-8: is still under every other limit", async () => {
    const tools = [recordingTool(poll()).tool];
    const { result } = await play({ tools }, times(33, "{}", "poll"));
    expect(new Set(outcomesOf(result))).toEqual(new Set(["refused"]));
  });
});
