import type { compat, GivenCall } from "toolkernel";
import { call, play, recordingTool, textsOf, verdictsOf } from "./run-calls.ts";

/** Runs one draft against a tool with a schema of its own, and says what became of it. */
export async function draftOn(
  schema: object,
  draft: GivenCall["arguments"],
  options: { readonly compat?: typeof compat.all } = {},
) {
  const { tool, runs } = recordingTool({ inputSchema: schema });
  const { result } = await play({ tools: [tool], ...options }, [call("read", draft)]);
  return { verdict: verdictsOf(result)[0], text: textsOf(result)[0], runs, repairs: result.settled[0]?.repairs ?? [] };
}
