import type { BenchCall, BenchTool } from "../contender.ts";
import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import type { Workload } from "../measure/workload.ts";
import { checkAnswers } from "./no-op-calls.ts";

/** Characters of one round, at least. */
const CHARACTERS_PER_ROUND = 4_000_000;

/**
 * W4: one call with large arguments. `size` is a shape and a number of characters: `text:100000` is one
 * long text, as of a file; `records:100000` a list of small objects.
 */
export const largeArguments: Workload = {
  name: "W4",
  about: "one call with arguments of 100 KB and 1 MB",
  prepare: async (contender, size) => {
    const [shape = "", characters = ""] = size.split(":");
    const host = contender.equip({ tools: [takeText, takeRecords], cap: 8 })();
    const responses = Math.max(4, Math.round(CHARACTERS_PER_ROUND / Number(characters)));
    let number = 0;
    return {
      round: async () => {
        const drafts = Array.from({ length: responses }, () => draftCall(shape, Number(characters), ++number));
        let last: unknown;
        collectYoungGarbage();
        const before = cpuMicroseconds();
        for (const draft of drafts) last = await host.respond(draft);
        const used = cpuMicroseconds() - before;
        checkAnswers(host, last, drafts.at(-1) ?? []);
        return { cpuUsPerCall: used / responses };
      },
    };
  },
};

const takeText: BenchTool = {
  name: "text",
  schema: {
    type: "object",
    properties: { number: { type: "integer" }, text: { type: "string" } },
    required: ["number", "text"],
    additionalProperties: false,
  },
  kind: "read",
  execute: async () => "ok",
};

const takeRecords: BenchTool = {
  name: "records",
  schema: {
    type: "object",
    properties: {
      number: { type: "integer" },
      records: {
        type: "array",
        items: {
          type: "object",
          properties: { path: { type: "string" }, line: { type: "integer" }, text: { type: "string" } },
          required: ["path", "line", "text"],
          additionalProperties: false,
        },
      },
    },
    required: ["number", "records"],
    additionalProperties: false,
  },
  kind: "read",
  execute: async () => "ok",
};

const LINE = 'const total = items.reduce((sum, { price }) => sum + price, 0); // the "net" price\n';

/** Just under the size, so that limits of that very size are kept. */
function draftCall(shape: string, characters: number, number: number): BenchCall[] {
  const args = shape === "text" ? textArguments(characters, number) : recordArguments(characters, number);
  return [{ id: `call-${number}`, name: shape, arguments: args }];
}

function textArguments(characters: number, number: number): string {
  const lines = Math.floor(characters / JSON.stringify(LINE).length);
  return JSON.stringify({ number, text: LINE.repeat(lines) });
}

function recordArguments(characters: number, number: number): string {
  const record = (line: number) => ({ path: `src/orders/order-${line % 97}.ts`, line, text: LINE.slice(0, 40) });
  const records = Math.floor(characters / (JSON.stringify(record(10_000)).length + 1));
  return JSON.stringify({ number, records: Array.from({ length: records }, (_, line) => record(line)) });
}
