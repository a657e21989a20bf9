import type { Mind, World } from "./world.ts";

/** Lets a character act until it wants nothing more; answers what it says then. */
export async function play(mind: Mind, world: World): Promise<string> {
  const heard: string[] = [];
  for (let turn = 1; turn <= 32; turn += 1) {
    const { moves, speech } = mind(heard);
    if (moves.length === 0) return speech;
    heard.push(...(await Promise.all(moves.map((move) => world.move(move)))));
  }
  return "I am too tired.";
}
