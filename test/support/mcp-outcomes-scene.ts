import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { OutcomeUnknownError, type Tool, ToolError } from "toolkernel";
import { fromMcp } from "toolkernel/mcp";
import { closeBehindTest } from "./open-clients-scene.ts";
import { connectActServer, type RawConnection, type RawReply, type RawRequest } from "./raw-mcp-server.ts";
import { type TestContext, testContext } from "./tool-context.ts";

/** A server of the one tool `act`, and the tool as it was imported. */
export interface ActServer extends RawConnection {
  readonly act: Tool;
}

/** Imports the tool `act`, whose calls `onCall` answers. */
export async function actServer(onCall: (reply: RawReply, request: RawRequest) => void): Promise<ActServer> {
  const connection = await connectActServer(onCall);
  closeBehindTest(connection.client);
  const [act] = await fromMcp(connection.client);
  if (act === undefined) {
    throw new Error("the server lists the tool act");
  }
  return { ...connection, act };
}

/** How a call of an executor ends. */
export type Ending = { readonly threw: unknown } | { readonly gave: unknown };

/** Calls the tool and waits for its end. */
export function ending(act: Tool, test: TestContext = testContext()): Promise<Ending> {
  return Promise.resolve(act.execute({ path: "a" }, test.context)).then(
    (gave): Ending => ({ gave }),
    (threw: unknown): Ending => ({ threw }),
  );
}

/** What an end says of the outcome: certain or not, and why. */
export function facts(ended: Ending): unknown {
  if ("gave" in ended) {
    return ended;
  }
  const { threw } = ended;
  if (threw instanceof ToolError) {
    return ["certain", threw.failureCategory, threw.message];
  }
  return threw instanceof OutcomeUnknownError ? ["uncertain", threw.message] : threw;
}

/** From now on nothing leaves the client. */
export function failSending(client: Client, error: Error): void {
  const { transport } = client;
  if (transport === undefined) {
    throw new Error("the client is connected");
  }
  transport.send = () => Promise.reject(error);
}
