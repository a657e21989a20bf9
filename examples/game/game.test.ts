import { describe, expect, it } from "vitest";
import * as after from "./after.ts";
import * as before from "./before.ts";
import { createWorld, type Mind } from "./world.ts";

/** Wants the sword out of the chest and, in the same breath, in the guard's hands. */
const squire: Mind = (heard) =>
  heard.length > 0
    ? { moves: [], speech: heard.join(" ") }
    : {
        moves: [
          { thing: "sword", from: "chest", to: "squire" },
          { thing: "sword", from: "squire", to: "guard" },
        ],
        speech: "",
      };

describe("a game with minds of its own", () => {
  it("before: the second move sees a world in which the first has not happened", async () => {
    const world = createWorld({ sword: "chest" });
    expect(await before.play(squire, world)).toBe("The sword is with the squire. The sword is not with the squire.");
    expect(world.ownerOf("sword")).toBe("squire");
  });

  it("C01: after, moves of one thing come one after another", async () => {
    const world = createWorld({ sword: "chest" });
    expect(await after.play(squire, world)).toBe("The sword is with the squire. The sword is with the guard.");
    expect(world.ownerOf("sword")).toBe("guard");
  });
});
