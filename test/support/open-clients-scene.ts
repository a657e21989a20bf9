/**
 * Clients of MCP servers that tests open.
 * Owns: those that are open; each is closed behind its test.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach } from "vitest";

const open: Client[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** Has a client closed when the test is over. */
export function closeBehindTest(client: Client): void {
  open.push(client);
}
