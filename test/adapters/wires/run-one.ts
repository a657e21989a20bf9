import {
  type AnyTool,
  createToolSession,
  type JsonObject,
  type SettledCall,
  type ToolSessionOptions,
} from "toolkernel";

/** Runs one call through a session of its own, and gives what it came to. */
export async function runOne(
  tools: readonly AnyTool[],
  name: string,
  args: JsonObject,
  options: Partial<ToolSessionOptions> = {},
): Promise<SettledCall> {
  await using session = createToolSession({ tools, ...options });
  const { settled, approvals } = await session.execute([{ id: "call_1", name, arguments: args }]).result;
  const [call] = settled;
  if (call === undefined) {
    throw new Error(`The call waits for ${approvals?.length} approvals.`);
  }
  return call;
}
