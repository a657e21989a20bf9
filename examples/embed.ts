import { createToolSession, defineTool } from "toolkernel";
import { z } from "zod";

// What a host has already: a stock, and two functions on it. Taking reads, waits and writes.
const stock = new Map([["apples", 3]]);
const countItem = async (item: string) => stock.get(item) ?? 0;
const takeItem = async (item: string) => stock.set(item, (await countItem(item)) - 1).get(item);

const shared = { inputSchema: z.object({ item: z.string() }), conflictKey: (args: { item: string }) => args.item };
const count = defineTool({ ...shared, name: "count", description: "Counts.", execute: ({ item }) => countItem(item) });
const take = defineTool({ ...shared, name: "take", description: "Takes one.", execute: ({ item }) => takeItem(item) });

const session = createToolSession({ tools: [count, take], toolExecution: "parallel" });
const batch = session.execute([
  { id: "a", name: "take", arguments: '{ "item": "apples" }' },
  { id: "b", name: "take", arguments: '{ "item": "apples" }' },
  { id: "c", name: "count", arguments: '{ "item": "apples" }' },
]);
for await (const event of batch) if (event.kind === "toolEnded") console.log(event.callId, event.outcome);
const { messages } = await batch.result;
for (const { content } of messages) console.log(JSON.stringify(content));
await session.close();
