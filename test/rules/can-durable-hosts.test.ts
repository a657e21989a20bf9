import {
  type AnyTool,
  createLanes,
  createToolSession,
  defineTool,
  GameActionDispatcher,
  type GameActionHandler,
  GameActionReceipt,
  GameActionTool,
  memoryJournal,
} from "toolkernel";
import { describe, expect, it, vi } from "vitest";
import { trap } from "../support/can-hostile-scene.ts";
import { follow, openBench } from "../support/execution-bench.ts";
import { call, outcomesOf } from "../support/run-calls.ts";
import { trackedClock } from "../support/tracked.ts";

const INPUT = { sessionId: "session", actorId: "actor", inputId: "input", moment: { timelineId: "main", tick: 7 } };

/** Answers once, and throws for ever after. */
function answersOnce<Answer>(answer: Answer) {
  return vi.fn<() => Answer>(trap).mockReturnValueOnce(answer);
}

/** A durable tool on a clock of its own, whose functions answer once and whose handler never does. */
function forgetfulTool(handler: Partial<GameActionHandler> = {}) {
  const simulated = trackedClock();
  const journal = memoryJournal({ clock: simulated.clock });
  const execute = () => new Promise<never>(() => undefined);
  const dispatcher = new GameActionDispatcher({ journal, handler: { execute, ...handler }, clock: simulated.clock });
  const [input, operationId] = [answersOnce(INPUT), answersOnce("action")];
  const tool = GameActionTool.create({
    input,
    operationId,
    name: "act",
    description: "Acts on the world.",
    inputSchema: { type: "object" },
    dispatcher,
    conflictKey: () => "key",
    timeoutMs: 100,
  });
  return { simulated, journal, tool: tool as AnyTool, input, operationId };
}

/** Plays one call of a tool until time-out, grace and hold are over. */
async function play({ tool, simulated }: { tool: AnyTool; simulated: ReturnType<typeof trackedClock> }) {
  const lanes = createLanes();
  const bench = openBench({ tools: [tool], simulated, lanes, limits: { abandonAfterMs: 2_000 } });
  const running = await bench.start([call("act", {}, "a")]);
  await bench.advance(5_000);
  return { lanes, outcomes: outcomesOf(await running.result), settled: (await running.result).settled };
}

describe("CAN-4: a durable tool whose host's functions fail later", () => {
  it("ACT-8: asks them once a call, so that one that is abandoned has its result, and its entry is in doubt", async () => {
    const scene = forgetfulTool();
    const { outcomes, settled } = await play(scene);
    expect(outcomes).toEqual(["uncertain"]);
    expect(settled[0]?.result.details).toMatchObject({ operationId: "action", status: "uncertain", tick: 7 });
    expect((await scene.journal.find("action"))?.state).toBe("uncertain");
    expect([scene.input.mock.calls.length, scene.operationId.mock.calls.length]).toEqual([1, 1]);
  });

  it("EPOCH-9: keeps nobody from its keys for longer than any other that is abandoned", async () => {
    const scene = forgetfulTool();
    const { lanes } = await play(scene);
    const write = defineTool({
      name: "write",
      description: "Writes.",
      inputSchema: { type: "object" },
      conflictKey: () => "key",
      execute: () => "written",
    });
    const other = createToolSession({ tools: [write], lanes, clock: scene.simulated.clock });
    const running = follow(other.execute([call("write", {}, "b")]));
    await scene.simulated.advance(0);
    expect(outcomesOf(await running.result)).toEqual(["succeeded"]);
  });

  it("UNC-7: is asked what became of the call by the id that was given", async () => {
    const scene = forgetfulTool({ recover: (intent) => GameActionReceipt.committed(intent, { found: true }) });
    const { outcomes, settled } = await play(scene);
    expect(outcomes).toEqual(["succeeded"]);
    expect(settled[0]?.result.details).toMatchObject({ status: "committed", recovered: true });
    expect([scene.input.mock.calls.length, scene.operationId.mock.calls.length]).toEqual([1, 1]);
  });

  it("that cannot be given up in order leaves its call uncertain all the same, projected as such", async () => {
    const { tool, ...scene } = forgetfulTool();
    const { durable } = tool;
    const broken = new Proxy(durable as object, {
      get: (target, name) => {
        if (name === "abandon") return trap;
        if (name === "projector") return () => ({ shown: true });
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { outcomes, settled } = await play({ ...scene, tool: { ...tool, durable: broken as never } });
    expect(outcomes).toEqual(["uncertain"]);
    expect(settled[0]?.result.content[0]).toEqual({ type: "json", value: { status: "uncertain" } });
  });
});
