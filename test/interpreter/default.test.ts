import { createToolSession, defineTool } from "toolkernel";
import { afterEach, expect, it, vi } from "vitest";
import { Actor } from "xstate";
import { CompiledActor } from "../../src/interpreter/compiled-actor.ts";

afterEach(() => vi.restoreAllMocks());

it("a session that names no interpreter runs on compiled charts, or on the one that this run of the suite asks for", async () => {
  const compiled = vi.spyOn(CompiledActor.prototype, "start");
  const xstate = vi.spyOn(Actor.prototype, "start");
  const tool = defineTool({ name: "look", description: "Looks.", inputSchema: {}, risk: "readOnly", execute: () => 1 });
  const session = createToolSession({ tools: [tool] });
  await session.execute([{ id: "a", name: "look", arguments: "{}" }]).result;
  const [used, unused] = process.env.TOOLKERNEL_INTERPRETER === "xstate" ? [xstate, compiled] : [compiled, xstate];
  // A batch, an epoch and a call.
  expect([used.mock.calls.length, unused.mock.calls.length]).toEqual([3, 0]);
});
