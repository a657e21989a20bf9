import { createToolSession, defineTool } from "toolkernel";

const user = new AbortController();

const search = defineTool({
  name: "search",
  description: "Searches for a long time.",
  inputSchema: { type: "object" },
  risk: "readOnly",
  execute: (_args, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      user.abort(new Error("the user pressed stop"));
    }),
});
const order = defineTool({
  name: "order",
  description: "Orders what was found.",
  inputSchema: { type: "object" },
  execute: () => "ordered",
});

const session = createToolSession({ tools: [search, order] });
const calls = [
  { id: "a", name: "search", arguments: "{}" },
  { id: "b", name: "order", arguments: "{}" },
];
const { settled } = await session.execute(calls, { signal: user.signal }).result;
for (const { call, outcome, startedAtMs } of settled) {
  console.log(call.name, outcome, startedAtMs === undefined ? "never started" : "was running");
}
await session.close();
