/**
 * The floor: what has to be done whatever does it. Parse, validate with ajv, `Promise.all`, results in
 * order. No keys, no cap, no barriers, no time-outs, no events, no errors but throws.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { BenchAnswer, BenchArguments, BenchCall, BenchSetup, Contender, Host } from "../contender.ts";

/** See the file header. */
export const bare: Contender = { name: "bare", version: "parse, ajv, Promise.all", equip };

function equip({ tools }: BenchSetup): () => Host {
  const ajv = new Ajv2020();
  const byName = new Map(tools.map((tool) => [tool.name, { tool, check: ajv.compile(tool.schema) }]));
  const run = async ({ id, name, arguments: text }: BenchCall): Promise<BenchAnswer> => {
    const found = byName.get(name);
    if (found === undefined) return { id, text: "unknown tool", isError: true };
    const args = JSON.parse(text) as BenchArguments; // the schema says the rest
    if (!found.check(args)) return { id, text: ajv.errorsText(found.check.errors), isError: true };
    return { id, text: await found.tool.execute(args, () => undefined), isError: false };
  };
  return () => ({
    respond: (calls) => Promise.all(calls.map(run)),
    answers: (results) => results as readonly BenchAnswer[], // what `respond` has made
    converse: async (callsOf) => {
      const transcript: unknown[] = [];
      for (let turn = 1; ; turn++) {
        const calls = callsOf(turn);
        if (calls.length === 0) return;
        transcript.push(calls, await Promise.all(calls.map(run)));
      }
    },
  });
}
