import {
  GameActionDispatcher,
  type GameActionIntent,
  GameActionReceipt,
  GameActionTool,
  jsonSchema,
  memoryJournal,
  type ToolArgs,
} from "toolkernel";
import { describe, expect, expectTypeOf, it } from "vitest";
import { testContext } from "../support/tool-context.ts";

interface Actions {
  build: { arguments: { plot: number; kind: "house" | "mill" }; result: { level: number } };
  trade: { arguments: { with: string }; result: null };
}

const INPUT = { sessionId: "s", actorId: "a", inputId: "i", moment: { timelineId: "t", tick: 1 } };

function makeDispatcher() {
  return new GameActionDispatcher<Actions>({
    journal: memoryJournal(),
    handler: {
      execute: (intent, { fence }) => {
        expectTypeOf(fence).toEqualTypeOf<number>();
        if (intent.action === "build") {
          expectTypeOf(intent.arguments).toEqualTypeOf<{ plot: number; kind: "house" | "mill" }>();
          return GameActionReceipt.committed(intent, { level: intent.arguments.plot });
        }
        expectTypeOf(intent.arguments).toEqualTypeOf<{ with: string }>();
        return GameActionReceipt.rejected(intent, "closed", "The market is closed.");
      },
    },
  });
}

describe("types of durable actions", () => {
  it("narrow on the action, in the handler, the projector and the receipt", async () => {
    const dispatcher = makeDispatcher();
    const tool = GameActionTool.create({
      input: INPUT,
      name: "build",
      description: "Builds.",
      inputSchema: jsonSchema<{ plot: number; kind: "house" | "mill" }>({ type: "object" }),
      dispatcher,
      conflictKey: (args) => `plot:${args.plot}`,
      expectedRevision: (args) => args.plot,
      modelReceiptProjector: ({ intent, receipt }) => {
        if (intent.action === "build") expectTypeOf(intent.arguments.kind).toEqualTypeOf<"house" | "mill">();
        return receipt.status === "committed" ? { level: receipt.result?.level ?? 0 } : { code: receipt.code };
      },
    });
    expectTypeOf(tool.name).toEqualTypeOf<"build">();
    expectTypeOf<ToolArgs<typeof tool>>().toEqualTypeOf<{ plot: number; kind: "house" | "mill" }>();
    const { receipt, timings } = await dispatcher.dispatch({
      ...INPUT,
      operationId: "op",
      action: "trade",
      arguments: { with: "Ada" },
      conflictKeys: [],
    });
    expectTypeOf(timings.hostMs).toEqualTypeOf<number>();
    expect(receipt?.status === "rejected" && receipt.code).toBe("closed");
    type BuildWith<Arguments> = Omit<GameActionIntent<Actions>, "action" | "arguments"> & {
      action: "build";
      arguments: Arguments;
    };
    expectTypeOf<BuildWith<Actions["build"]["arguments"]>>().toExtend<GameActionIntent<Actions>>();
    expectTypeOf<BuildWith<Actions["trade"]["arguments"]>>().not.toExtend<GameActionIntent<Actions>>();
    const result = await tool.execute({ plot: 3, kind: "mill" }, testContext().context);
    expect(result.details).toMatchObject({ status: "uncertain" });
  });
});
