import { createToolSession, defineTool, jsonSchema } from "toolkernel";
import { simulatedClock } from "toolkernel/testing";

const { clock, advance } = simulatedClock();
const takes = (ms: number) => () => new Promise<void>((done) => clock.setTimer(clock.now() + ms, done));

const inputSchema = jsonSchema<{ path: string }>({
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
});
const conflictKey = ({ path }: { readonly path: string }) => `file:${path}`;
const shared = { inputSchema, description: "" };
const tools = [
  defineTool({ ...shared, name: "read", risk: "readOnly", execute: takes(10) }),
  defineTool({ ...shared, name: "edit", executionMode: "parallel", conflictKey, execute: takes(20) }),
  defineTool({ ...shared, name: "deploy", execute: takes(10) }),
];

const session = createToolSession({ tools, clock, limits: { maxConcurrentTools: 2 } });
const call = (id: string, name: string, path: string) => ({ id, name, arguments: { path } });
const calls = [
  call("1", "edit", "a"),
  call("2", "edit", "a"),
  call("3", "edit", "b"),
  call("4", "read", "c"),
  call("5", "deploy", "x"),
  call("6", "read", "a"),
];
const startMs = clock.now();
const batch = session.execute(calls);
await advance(100);
const { settled } = await batch.result;
for (const { index, epoch, startedAtMs = startMs, endedAtMs = startMs } of settled) {
  const { name, arguments: args } = calls[index] ?? call("", "", "");
  const bar = " ".repeat((startedAtMs - startMs) / 5) + "=".repeat((endedAtMs - startedAtMs) / 5);
  console.log(`epoch ${epoch}  ${`${name} ${args.path}`.padEnd(8)} |${bar}`);
}
await session.close();
