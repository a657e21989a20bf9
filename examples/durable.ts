import {
  Agent,
  GameActionDispatcher,
  GameActionReceipt,
  GameActionTool,
  type JsonObject,
  jsonSchema,
  memoryJournal,
} from "toolkernel";
import { scriptedModel } from "toolkernel/testing";

// The world: what is built, by plot, and which operation built it. It loses one answer.
const plots = new Map<string, { readonly structure: string; readonly operationId: string }>();
const losesAnswer = new Set(["plot-2"]);

type Actions = {
  build: { arguments: { plot: string; structure: string }; result: { label: string; x: number; y: number } };
};
const journal = memoryJournal();
const dispatcher = new GameActionDispatcher<Actions>({
  journal,
  handler: {
    execute: (intent) => {
      const { plot, structure } = intent.arguments;
      if (plots.has(plot)) return GameActionReceipt.rejected(intent, "plot_taken", "Something stands there.");
      plots.set(plot, { structure, operationId: intent.operationId });
      if (losesAnswer.has(plot)) throw new Error("The connection broke.");
      return GameActionReceipt.committed(intent, { label: `a ${structure}`, x: 3, y: 7 });
    },
  },
});

const text = { type: "string" };
const build = GameActionTool.create({
  // Saved with the player's input; the same again when the input runs again.
  input: { sessionId: "s1", actorId: "anna", inputId: "input-1", moment: { timelineId: "main", tick: 12 } },
  name: "build",
  description: "Builds on a free plot.",
  inputSchema: jsonSchema<Actions["build"]["arguments"]>({
    type: "object",
    properties: { plot: text, structure: text },
    required: ["plot", "structure"],
  }),
  dispatcher,
  executionMode: "parallel",
  conflictKey: ({ plot }) => `plot:${plot}`,
  // What the model sees of a receipt: no coordinates, no ids.
  modelReceiptProjector: ({ receipt }): JsonObject =>
    receipt.status === "committed"
      ? { status: "committed", built: receipt.result.label }
      : { status: receipt.status, code: receipt.code },
});

const call = (id: string, plot: string) =>
  ({ type: "toolCall", id, name: "build", arguments: { plot, structure: "farm" } }) as const;
const model = scriptedModel([
  { content: [call("a", "plot-1"), call("b", "plot-1"), call("c", "plot-2")], stopReason: "toolUse" },
  { content: [{ type: "text", text: "Done." }], stopReason: "stop" },
]);
const { messages } = await new Agent({ model, tools: [build] }).run("Build farms.").result;
for (const message of messages) {
  if (message.role === "toolResult") console.log(message.callId, JSON.stringify(message.content[0]));
}

// Later: the world is asked about what is still open, and a person writes down what is known.
const { entries } = await journal.listOpen({ limit: 10 });
for (const { intent, state } of entries) {
  const { operationId } = intent;
  const isBuilt = [...plots.values()].some((built) => built.operationId === operationId);
  const evidence = { by: "anna", seen: "the farm stands" };
  const receipt = await dispatcher.resolve(operationId, { status: isBuilt ? "committed" : "failed", evidence });
  console.log(`${intent.action}: ${state}, now ${receipt.status}`);
}
await journal.close();
