import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, type JsonObject, type ModelProvider } from "toolkernel";
import { openSqliteRunStore } from "toolkernel/sqlite";

const path = join(mkdtempSync(join(tmpdir(), "shop-")), "runs.db");

// What the shop knows, and what only the supplier does.
const ledger: string[] = [];
const supplier: string[] = [];

const count = defineTool({
  name: "count",
  description: "Counts what is in stock.",
  inputSchema: { type: "object" },
  risk: "readOnly",
  execute: ({ item }) => `3 ${String(item)}`,
});
const note = defineTool({
  name: "note",
  description: "Notes something, once for each operation id.",
  inputSchema: { type: "object" },
  risk: "idempotentWrite",
  execute: ({ text }, { operationId }) => {
    if (!ledger.some((line) => line.startsWith(operationId))) ledger.push(`${operationId} ${String(text)}`);
    return "noted";
  },
});
const order = defineTool({
  name: "order",
  description: "Orders from the supplier, who never answers.",
  inputSchema: { type: "object" },
  execute: ({ item }, { signal }) => {
    supplier.push(String(item));
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("too late")));
  },
});

const call = (id: string, name: string, args: JsonObject) => ({ type: "toolCall", id, name, arguments: args }) as const;
const model: ModelProvider = {
  generate: async ({ turn }) =>
    turn === 1
      ? {
          content: [
            call("a", "count", { item: "plums" }),
            call("b", "note", { text: "plums are low" }),
            call("c", "order", { item: "plums" }),
            call("d", "order", { item: "pears" }),
          ],
          stopReason: "toolUse",
        }
      : { content: [{ type: "text", text: "I will ask the supplier about the plums." }], stopReason: "stop" },
};

/** What every process of the shop is started with. */
async function openShop() {
  const runStore = await openSqliteRunStore(path);
  return { runStore, agent: new Agent({ model, tools: [count, note, order], runStore }) };
}

const first = await openShop();
const lost = first.agent.run("What is running out?", { runId: "monday" });
for await (const event of lost) if (event.kind === "toolDispatched" && event.callId === "c") break;
// The power fails: nothing more of this process is recorded, and nobody hears of the order.
await first.runStore.close();
lost.abort();
await lost.result;

const second = await openShop();
const { runs } = await second.runStore.listOpen({ limit: 100 });
for (const { runId, status, claimed } of runs) {
  console.log(`${runId}: ${status}, ${claimed ? "held" : "held by nobody"}`);
  const run = second.agent.resume(runId);
  for await (const event of run) {
    if (event.kind === "toolDispatched") console.log(`${event.toolName} ${event.callId} is dispatched`);
    if (event.kind === "toolEnded") console.log(`${event.toolName} ${event.callId}: ${event.outcome}`);
  }
  const { endedBy, messages } = await run.result;
  console.log(`${endedBy}, ${messages.length} messages; noted ${ledger.length}, ordered ${supplier.join(", ")}`);
}
await second.runStore.close();
