import type { BenchCall, BenchSchema, BenchTool } from "../contender.ts";
import type { World } from "./world.ts";

const CALLS = 60;
const KEYS = ["a", "b", "c", "d"];
/** Every place of the response that holds a barrier; among the others every fourth or fifth is a write. */
const BARRIERS = new Set([6, 13, 20, 27, 34, 41, 48, 55]);
const WRITES = new Set([1, 2, 4, 9, 10, 17, 23, 24, 31, 38, 45, 52]);

const SCHEMA: BenchSchema = {
  type: "object",
  properties: { thing: { type: "string" }, run: { type: "integer" }, place: { type: "integer" } },
  required: ["thing", "run", "place"],
  additionalProperties: false,
};

/** The calls of W3, the same in every run but for a number that keeps them from being exact repeats. */
export function mixedCalls(run: number): readonly BenchCall[] {
  let writes = 0;
  return Array.from({ length: CALLS }, (_, place) => {
    const isWrite = WRITES.has(place);
    const name = BARRIERS.has(place) ? "rebuild" : isWrite ? "edit" : "look";
    const thing = isWrite ? KEYS[writes++ % KEYS.length] : "all";
    return { id: `call-${place}`, name, arguments: JSON.stringify({ thing, run, place }) };
  });
}

/** What a call of W3 is, and the key it has. */
export function kindOf({ name, arguments: text }: BenchCall): {
  readonly kind: BenchTool["kind"];
  readonly key?: string;
} {
  if (name === "look") return { kind: "read" };
  if (name === "rebuild") return { kind: "barrier" };
  return { kind: "keyed", key: (JSON.parse(text) as { readonly thing: string }).thing }; // its own text
}

/**
 * The tools of W3 on a world of four things. A write reads its thing, works, and puts back one more; a
 * barrier does so with all of them. None minds its signal, as most tools do not.
 */
export function mixedTools(world: World, callMs: number): readonly BenchTool[] {
  const work = (kind: BenchTool["kind"]): BenchTool["execute"] => {
    return async ({ thing, place }) => {
      const things = kind === "read" ? [] : kind === "barrier" ? KEYS : [String(thing)];
      return world.work({ id: `call-${place}`, kind, things }, callMs);
    };
  };
  return [
    { name: "look", schema: SCHEMA, kind: "read", execute: work("read") },
    { name: "edit", schema: SCHEMA, kind: "keyed", key: ({ thing }) => String(thing), execute: work("keyed") },
    { name: "rebuild", schema: SCHEMA, kind: "barrier", execute: work("barrier") },
  ];
}
