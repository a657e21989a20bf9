import type { GivenCall, ToolSessionOptions } from "toolkernel";
import { call, eventsOf, finish, type Played, recordingTool, testSession } from "./run-calls.ts";

export const times = (count: number, draft: GivenCall["arguments"] = '{"p":"a"}', name = "read"): GivenCall[] =>
  Array.from({ length: count }, (_, index) => call(name, draft, `${name}${index}`));

/** Each repeat event as `id action count`. */
export const repeatsOf = ({ events }: Played): string[] =>
  eventsOf(events, "toolRepeatDetected").map(({ callId, action, count }) => `${callId} ${action} ${count}`);

/** Runs responses one after another in one session; each call as `id action count` where it was a repeat. */
export async function playTurns(options: Partial<ToolSessionOptions>, turns: readonly (readonly GivenCall[])[]) {
  const read = recordingTool();
  const session = testSession({ tools: [read.tool], ...options });
  const played: Played[] = [];
  for (const calls of turns) played.push(await finish(session.execute(calls)));
  await session.close();
  return { played, repeats: played.map(repeatsOf), read };
}
