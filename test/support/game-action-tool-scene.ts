import { GameActionTool } from "../../src/actions/game-action-tool.ts";
import { defaultOperationId } from "../../src/actions/operation-id.ts";
import type { DeclaredResult } from "../../src/domain/content.ts";
import { durableOutcomeOf } from "../../src/domain/durable-result.ts";
import type { ToolContext } from "../../src/domain/tool.ts";
import { makeRig, type Rig, type RigOptions } from "../actions/rig.ts";
import { testContext } from "./tool-context.ts";

export const INPUT = {
  sessionId: "session",
  actorId: "actor",
  inputId: "input",
  moment: { timelineId: "main", tick: 7 },
};

export const SCHEMA = { type: "object" };

export function makeTool(rig: Rig, more: object = {}) {
  return GameActionTool.create({
    input: INPUT,
    name: "build",
    description: "Builds.",
    inputSchema: SCHEMA,
    dispatcher: rig.dispatcher,
    ...more,
  });
}

export function contextOf(more: Partial<ToolContext> & { conflictWaitMs?: number } = {}): ToolContext {
  return { ...testContext().context, ...more };
}

export const OPERATION = defaultOperationId({ input: INPUT, turn: 1, callIndex: 0, action: "build" });

export async function run(options: RigOptions, more: object = {}, context: ToolContext = contextOf()) {
  const rig = makeRig(options);
  const result = await makeTool(rig, more).execute({ plot: 1 }, context);
  return { rig, result, outcome: durableOutcomeOf(result) };
}

export function plain(result: DeclaredResult | undefined): object {
  return JSON.parse(JSON.stringify(result));
}
