import { Agent, defineTool, jsonSchema, type Message, type ModelProvider } from "toolkernel";
import type { Mind, Move, World } from "./world.ts";

const text = { type: "string" };
const inputSchema = jsonSchema<Move>({
  type: "object",
  properties: { thing: text, from: text, to: text },
  required: ["thing", "from", "to"],
});

/** The game's own minds as a model: no provider, no network. */
function modelOf(mind: Mind): ModelProvider {
  return {
    generate: async ({ messages, turn }) => {
      const { moves, speech } = mind(messages.flatMap(heardIn));
      if (moves.length === 0) return { content: [{ type: "text", text: speech }], stopReason: "stop" };
      const calls = moves.map((move, index) => ({ id: `${turn}.${index}`, name: "move", arguments: { ...move } }));
      return { content: calls.map((call) => ({ type: "toolCall", ...call })), stopReason: "toolUse" };
    },
  };
}

function heardIn(message: Message): string[] {
  return message.role === "toolResult" ? message.content.map((part) => (part.type === "text" ? part.text : "")) : [];
}

/** Lets a character act until it wants nothing more; answers what it says then. */
export async function play(mind: Mind, world: World): Promise<string> {
  const move = defineTool({
    name: "move",
    description: "Moves a thing.",
    inputSchema,
    executionMode: "parallel",
    conflictKey: ({ thing }) => thing,
    execute: (args) => world.move(args),
  });
  const agent = new Agent({ model: modelOf(mind), tools: [move] });
  const { messages } = await agent.run("It is your turn.").result;
  const last = messages.at(-1);
  const [said] = last?.role === "assistant" ? last.content : [];
  return said?.type === "text" ? said.text : "I am too tired.";
}
