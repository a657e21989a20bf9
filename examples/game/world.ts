/** What a character wants done, and what it says when it wants nothing more. */
export interface Thought {
  readonly moves: readonly Move[];
  readonly speech: string;
}

/** A thing that goes from somebody to somebody. */
export type Move = { readonly thing: string; readonly from: string; readonly to: string };

/** A character's mind, of the game's own making: it hears what happened and thinks. */
export type Mind = (heard: readonly string[]) => Thought;

/** A world in which things have owners; a move takes a moment. */
export interface World {
  ownerOf(thing: string): string | undefined;
  move(move: Move): Promise<string>;
}

/** A world with things, by owner. */
export function createWorld(owners: Readonly<Record<string, string>>): World {
  const ownerOf = new Map(Object.entries(owners));
  return {
    ownerOf: (thing) => ownerOf.get(thing),
    move: async ({ thing, from, to }) => {
      const owner = ownerOf.get(thing);
      await Promise.resolve();
      if (owner !== from) return `The ${thing} is not with the ${from}.`;
      ownerOf.set(thing, to);
      return `The ${thing} is with the ${to}.`;
    },
  };
}
